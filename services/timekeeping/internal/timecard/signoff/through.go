package signoff

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

// signoff is the state of an employee's sign-off: the last signed-off day.
type signoff struct {
	through  civil.Date
	openFrom time.Time
}

func (s signoff) equal(o signoff) bool { return s.through == o.through && s.openFrom.Equal(o.openFrom) }

const readSignoffs = `
SELECT DISTINCT ON (employee_id) employee_id, through, open_from FROM timecard_signoff
WHERE tenant_id = $1 AND employee_id = ANY($2) ORDER BY employee_id, through DESC`

func signoffs(ctx context.Context, db pg.Querier, tenantID int64, ids []int64) (map[int64]signoff, error) {
	rows, err := db.Query(ctx, readSignoffs, tenantID, ids)
	if err != nil {
		return nil, fmt.Errorf("read sign-offs: %w", err)
	}
	out := map[int64]signoff{}
	var id int64
	var s signoff
	_, err = pgx.ForEachRow(rows, []any{&id, &s.through, &s.openFrom}, func() error {
		out[id] = s
		return nil
	})
	return out, err
}
