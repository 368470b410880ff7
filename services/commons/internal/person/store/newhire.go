package store

import "github.com/jackc/pgx/v5"

// NewHire is the stored data of a new hire beside the person.
type NewHire struct {
	Allowances
	// Body is the encoded rest of the message.
	Body []byte
}

// queueNewHires queues the statement that stores the hiring data of persons.
func queueNewHires(batch *pgx.Batch, tenantID int64, persons []Change) {
	var ids []int64
	var resident, work []*int64
	var bodies [][]byte
	for _, p := range persons {
		if p.NewHire != nil {
			ids, bodies = append(ids, p.ID), append(bodies, p.NewHire.Body)
			resident, work = append(resident, p.NewHire.Resident), append(work, p.NewHire.Work)
		}
	}
	if len(ids) > 0 {
		batch.Queue(`INSERT INTO new_hire (tenant_id, person_id, resident_state_allowances, work_state_allowances, body)
			SELECT $1, q.* FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[]) AS q`, tenantID, ids, resident, work, bodies)
	}
}

// Allowances are the two amounts for Iowa; nil if not given.
type Allowances struct{ Resident, Work *int64 }
