"""What a command that cannot go on says to the operator."""


class OperatorError(Exception):
    """What is wrong and what to do, in one sentence, which the command ends with.

    Storage and the settings know best what to do, so their refusals are such errors too.
    """

    # The command's exit status.
    status = 1
