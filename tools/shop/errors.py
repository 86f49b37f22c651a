"""What the shop refuses."""


class ShopError(ValueError):
    """A request that the shop refuses, or a file that can't be one: one line that says what helps.

    No message names a row that was not asked for: an id that is nearly right may be another
    customer's.
    """
