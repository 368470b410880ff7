package schedulepreview

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/proposal"
)

// Previews finds the previews that requests apply.
type Previews struct{ clock clock.Clock }

// NewPreviews returns Previews.
func NewPreviews(clk clock.Clock) *Previews { return &Previews{clk} }

// Find returns the preview that a request with this body applies; nil if the id is nil.
func (p *Previews) Find(id *int64, body proto.Message) (proposal.Preview, error) {
	if id == nil {
		return nil, nil
	}
	digest, err := requestDigest(body)
	if err != nil {
		return nil, err
	}
	return &application{id: *id, digest: digest, clock: p.clock}, nil
}

// application applies a preview in the transaction of its change.
type application struct {
	id     int64
	digest []byte
	clock  clock.Clock
}

// Check locks the preview, so that another request cannot apply it, and refuses a preview of the
// caller that has another request, is too old or stale, or is applied.
func (a *application) Check(ctx context.Context, tx pgx.Tx) error {
	r, err := readRow(ctx, tx, a.id, true)
	switch {
	case err != nil:
		return err
	case !slices.Equal(r.digest, a.digest):
		return fault.New(codeOtherRequest, http.StatusUnprocessableEntity,
			fmt.Sprintf("The preview %d is of another request. Send the request that was previewed, or preview this one.", a.id))
	case r.applied:
		return appliedFault()
	case !a.clock.Now().Before(r.expiresAt):
		return expiredFault()
	}
	later, err := r.basis.findLaterChange(ctx, tx)
	if err == nil && later != nil {
		return staleFault()
	}
	return err
}

// Record marks the preview as applied.
func (a *application) Record(ctx context.Context, tx pgx.Tx, propagationID int64) error {
	var id *int64
	if propagationID != 0 {
		id = &propagationID
	}
	if _, err := tx.Exec(ctx, setApplied, tenant.Of(ctx), a.id, a.clock.Now(), id); err != nil {
		return fmt.Errorf("schedulepreview: record: %w", err)
	}
	return nil
}
