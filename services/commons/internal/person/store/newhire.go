package store

import (
	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

// NewHire is the stored data of a new hire beside the person.
type NewHire struct {
	Allowances
	// Body is the encoded rest of the message.
	Body []byte
	// Key is the GUID of the hire in another service, or "".
	Key string
}

// queueNewHires queues the statement that stores the hiring data of persons.
func queueNewHires(batch *pgx.Batch, tenantID int64, persons []Change) {
	type row struct {
		Person         int64
		Resident, Work *int64
		Body           []byte
	}
	type hired struct {
		Person int64
		Key    string
	}
	var rows []row
	var keys []hired
	for _, p := range persons {
		if p.NewHire != nil {
			if p.NewHire.Key != "" {
				keys = append(keys, hired{p.ID, p.NewHire.Key})
			}
			rows = append(rows, row{p.ID, p.NewHire.Resident, p.NewHire.Work, p.NewHire.Body})
		}
	}
	if len(rows) > 0 {
		batch.Queue(`INSERT INTO new_hire (tenant_id, person_id, resident_state_allowances, work_state_allowances, body)
			SELECT $1, q.* FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[]) AS q`, pg.Columns(rows, tenantID)...)
	}
	if len(keys) > 0 {
		batch.Queue(`INSERT INTO hire_key (tenant_id, person_id, key) SELECT $1, q.* FROM unnest($2::bigint[], $3::text[]::uuid[]) AS q`, pg.Columns(keys, tenantID)...)
	}
}

// Allowances are the two amounts for Iowa; nil if not given.
type Allowances struct{ Resident, Work *int64 }
