"""dplib: private query release, written to be read.

Every module is one idea of the book. Importing this package imports numpy and nothing heavier; scipy,
matplotlib and ipywidgets are imported by the functions that need them.
"""

__version__ = "0.1.0"
