"""Operations of CuTe DSL, put to its own package for chips that are not there."""
