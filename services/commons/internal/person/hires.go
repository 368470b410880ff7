package person

import "github.com/jackc/pgx/v5"

// hire is what is kept of a new hire beside the person.
type hire struct {
	allowances
	body []byte
}

// queueHires adds the statement that keeps what the persons' hiring told.
func queueHires(batch *pgx.Batch, tenantID int64, persons []newPerson) {
	var ids []int64
	var resident, work []*int64
	var bodies [][]byte
	for _, p := range persons {
		if p.hire != nil {
			ids, bodies = append(ids, p.id), append(bodies, p.hire.body)
			resident, work = append(resident, p.hire.resident), append(work, p.hire.work)
		}
	}
	if len(ids) > 0 {
		batch.Queue(`INSERT INTO new_hire (tenant_id, person_id, resident_state_allowances, work_state_allowances, body)
			SELECT $1, q.* FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[]) AS q`, tenantID, ids, resident, work, bodies)
	}
}

// allowances are the two amounts for Iowa; nil when not given.
type allowances struct{ resident, work *int64 }
