"""Work that is saved as an image and put into the registry: from the wish to the tag, whatever is killed between."""
