"""Tables, pages and figures as people see them; nothing here knows what they are about."""
