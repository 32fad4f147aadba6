"""The one way out of the box: every byte that leaves passes here, judged, bounded and recorded."""
