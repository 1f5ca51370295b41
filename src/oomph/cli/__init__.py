"""The command line: `main(argv)` gives the exit status; one file per command."""
