package segment

// The kinds of segments.
const (
	Regular = "REGULAR_SEGMENT"
	Break   = "BREAK_SEGMENT"
)

// Segment is the time and kind of a segment. Start and End are seconds on the same clock.
type Segment struct {
	Start, End int64
	Kind       string
	Index      int // index of the original segment
}

// WithoutBreaks adds the time of each break to a neighbouring segment: to the one before, unless
// only the one after is a regular segment. A shift with nothing but breaks is unchanged.
func WithoutBreaks(segments []Segment) []Segment {
	merged := make([]Segment, 0, len(segments))
	for i := range segments {
		s := &segments[i]
		if s.Kind != Break {
			merged = append(merged, *s)
			continue
		}
		before, after := len(merged) > 0, i+1 < len(segments) && segments[i+1].Kind != Break
		if before && after && merged[len(merged)-1].Kind != Regular && segments[i+1].Kind == Regular {
			before = false
		}
		switch {
		case before:
			merged[len(merged)-1].End = max(merged[len(merged)-1].End, s.End)
		case after:
			segments[i+1].Start = min(segments[i+1].Start, s.Start)
		case i+1 < len(segments):
			// Another break follows, which absorbs this one.
			segments[i+1].Start = min(segments[i+1].Start, s.Start)
		default:
			merged = append(merged, *s)
		}
	}
	return merged
}
