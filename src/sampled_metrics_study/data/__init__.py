"""Where events come from: addresses, archives, formats, and how they are split."""
