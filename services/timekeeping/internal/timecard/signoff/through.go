package signoff

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// signoff is the state of an employee's sign-off: the last signed-off day.
type signoff struct {
	through           civil.Date
	openFrom, created time.Time
	// version grows with each comparison of the schedule.
	version int64
}

// closesSame reports whether two states close the same days and punches.
func (s signoff) closesSame(o signoff) bool {
	return s.through == o.through && s.openFrom.Equal(o.openFrom) && s.created.Equal(o.created)
}

// equal reports whether two states close the same days, and no comparison of the schedule came between them.
func (s signoff) equal(o signoff) bool { return s.closesSame(o) && s.version == o.version }

const readSignoffs = `
SELECT DISTINCT ON (employee_id) employee_id, through, open_from, created_at, version FROM timecard_signoff
WHERE tenant_id = $1 AND employee_id = ANY($2) ORDER BY employee_id, through DESC`

func signoffs(ctx context.Context, db pg.Querier, ids []int64) (map[int64]signoff, error) {
	rows, err := db.Query(ctx, readSignoffs, tenant.Of(ctx), ids)
	if err != nil {
		return nil, fmt.Errorf("read sign-offs: %w", err)
	}
	out := map[int64]signoff{}
	var id int64
	var s signoff
	_, err = pgx.ForEachRow(rows, []any{&id, &s.through, &s.openFrom, &s.created, &s.version}, func() error {
		out[id] = s
		return nil
	})
	return out, err
}
