package patternassignment

import "github.com/rotaloom/rotaloom/services/scheduling/internal/proposal"

// Options are options of a change.
type Options struct {
	// Partial makes the valid changes if others fail. Otherwise all are made, or none.
	Partial bool
	// Preview is the preview that the caller applies; nil for a change without a preview.
	Preview proposal.Preview
}
