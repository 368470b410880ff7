package segment

// The kinds of segments.
const (
	Regular = "REGULAR_SEGMENT"
	Break   = "BREAK_SEGMENT"
)

// Segment is a segment reduced to what merging needs. Start and end are in
// seconds of one clock.
type Segment struct {
	Start, End int64
	Kind       string
	Index      int // which segment it was
}

// WithoutBreaks gives the time of each break to the segment before or after it,
// a regular one preferred, else the one before. A shift that is nothing but
// breaks stays as it is.
func WithoutBreaks(segments []Segment) []Segment {
	kept := make([]Segment, 0, len(segments))
	for i := range segments {
		s := &segments[i]
		if s.Kind != Break {
			kept = append(kept, *s)
			continue
		}
		before, after := len(kept) > 0, i+1 < len(segments) && segments[i+1].Kind != Break
		if before && after && kept[len(kept)-1].Kind != Regular && segments[i+1].Kind == Regular {
			before = false
		}
		switch {
		case before:
			kept[len(kept)-1].End = max(kept[len(kept)-1].End, s.End)
		case after:
			segments[i+1].Start = min(segments[i+1].Start, s.Start)
		case i+1 < len(segments):
			// Another break follows: it takes this one along.
			segments[i+1].Start = min(segments[i+1].Start, s.Start)
		default:
			kept = append(kept, *s)
		}
	}
	return kept
}
