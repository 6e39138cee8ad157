"""Passwords of commands: typed twice into a terminal or piped in, and never arguments."""

from tests.support.commands.command import Command
from tests.support.commands.typed import typed

GRACE = ("users", "create", "--email", "grace@example.com")


def test_a_terminal_is_asked_twice_and_shows_nothing(own_start: Command) -> None:
    status, shown = typed(own_start, *GRACE, lines=["an orchard lantern", "an orchard lantern"])
    assert (status, "Created the user grace@example.com" in shown) == (0, True)
    assert "orchard" not in shown


def test_two_passwords_that_differ_are_asked_for_again(command: Command) -> None:
    right = "an orchard lantern"
    status, shown = typed(command, *GRACE, lines=[right, "another lantern", right, right])
    assert (status, "do not match" in shown) == (0, True)


def test_without_a_terminal_the_password_is_a_line_of_standard_input(command: Command) -> None:
    assert command.json(*GRACE, stdin="an orchard lantern\nno password\n")["email"] == "grace@example.com"
    said = command.refusal(*GRACE)
    assert said == "Send the password as a line of standard input, or run this in a terminal."


def test_a_password_in_the_arguments_is_refused_without_repeating_it(command: Command) -> None:
    said = command.refusal(*GRACE, "--password", "an orchard lantern", status=2)
    assert said.startswith("A password in the arguments can be read by other programs")
    assert "orchard" not in said
    assert "--password" not in command.run(*GRACE[:2], "--help").stdout
