"""What the tests of engines need: executors by factories, and commands of a batch system that run jobs at once."""
