package schedule

// The kinds of segments.
const (
	regularSegment = "REGULAR_SEGMENT"
	breakSegment   = "BREAK_SEGMENT"
)

// stretch is a segment reduced to what merging needs. Start and end are in
// seconds of one clock.
type stretch struct {
	start, end int64
	kind       string
	index      int // which segment it was
}

// withoutBreaks gives the time of each break to the segment before or after it,
// a regular one preferred, else the one before. A shift that is nothing but
// breaks stays as it is.
func withoutBreaks(stretches []stretch) []stretch {
	kept := make([]stretch, 0, len(stretches))
	for i := range stretches {
		s := &stretches[i]
		if s.kind != breakSegment {
			kept = append(kept, *s)
			continue
		}
		before, after := len(kept) > 0, i+1 < len(stretches) && stretches[i+1].kind != breakSegment
		if before && after && kept[len(kept)-1].kind != regularSegment && stretches[i+1].kind == regularSegment {
			before = false
		}
		switch {
		case before:
			kept[len(kept)-1].end = max(kept[len(kept)-1].end, s.end)
		case after:
			stretches[i+1].start = min(stretches[i+1].start, s.start)
		case i+1 < len(stretches):
			// Another break follows: it takes this one along.
			stretches[i+1].start = min(stretches[i+1].start, s.start)
		default:
			kept = append(kept, *s)
		}
	}
	return kept
}
