"""Prime, the third stage: text and anchors go in, primed text comes out."""
