"""Two to fifty runs beside each other: their table, the axes of their charts, what their code and outputs differ in."""
