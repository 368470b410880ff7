package person

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// ReadBirthDates returns the birth dates of persons. It leaves out persons without a birth
// date.
func (h *Handler) ReadBirthDates(ctx context.Context, req *commonsv1.ReadBirthDatesRequest) (*commonsv1.ReadBirthDatesResponse, error) {
	tenantID := tenant.Of(ctx)
	out := &commonsv1.ReadBirthDatesResponse{}
	var id int64
	var born civil.Date
	if err := pg.ForEach(ctx, h.pool, []any{&id, &born}, func() error {
		out.BirthDates = append(out.BirthDates, &commonsv1.BirthDate{PersonId: id, BirthDate: born.String()})
		return nil
	}, `
SELECT id, birth_date FROM person WHERE tenant_id = $1 AND id = ANY($2) AND birth_date IS NOT NULL ORDER BY id`, tenantID, req.GetPersonIds()); err != nil {
		return nil, fmt.Errorf("person: read birth dates: %w", err)
	}
	return out, nil
}
