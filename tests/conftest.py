from hypothesis import settings

# Every example counts, none is judged by a clock that other work on the machine may slow.
settings.register_profile("numerate", deadline=None, print_blob=True)
settings.load_profile("numerate")
