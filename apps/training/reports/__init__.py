"""Reports: text with charts and tables of chosen runs, read by colleagues and taken along as one HTML file."""
