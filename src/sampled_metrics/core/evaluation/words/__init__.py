"""The words of findings, a module for each subject. No other module has sentences about results."""
