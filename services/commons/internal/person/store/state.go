package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/personzone"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

// ReadStates returns the states of persons that other domains store, by ascending id.
func ReadStates(ctx context.Context, db pg.Querier, ids []int64) ([]*commonsv1.PersonState, error) {
	// One statement is one snapshot, so the days and the version belong together.
	return pg.Collect(ctx, db, scanState, `SELECT p.id, p.person_number, p.full_name, p.time_zone, p.time_zones, p.version, p.hire_date,
			coalesce(e.froms, '{}'), coalesce(e.tos, '{}'), coalesce(u.froms, '{}'), coalesce(u.tos, '{}'),
			coalesce(j.jobs, '[]')
		FROM person p
		LEFT JOIN LATERAL (SELECT array_agg(from_date ORDER BY from_date) AS froms, array_agg(to_date ORDER BY from_date) AS tos
			FROM employment_status WHERE tenant_id = $1 AND person_id = p.id AND status = $3) e ON true
		LEFT JOIN LATERAL (SELECT array_agg(from_date ORDER BY from_date) AS froms, array_agg(to_date ORDER BY from_date) AS tos
			FROM user_account_status WHERE tenant_id = $1 AND person_id = p.id AND status <> $4) u ON true
		LEFT JOIN LATERAL (`+primaryJobs+`) j ON true
		WHERE p.tenant_id = $1 AND p.id = ANY($2) ORDER BY p.id`,
		tenant.Of(ctx), ids, record.StatusTerminated, record.StatusActive)
}

func scanState(row pgx.CollectableRow) (*commonsv1.PersonState, error) {
	s := &commonsv1.PersonState{}
	var hired *civil.Date
	var from, to, lockedFrom, lockedTo []civil.Date
	var jobs []primaryJob
	var zones []byte
	if err := row.Scan(&s.PersonId, &s.PersonNumber, &s.FullName, &s.TimeZone, &zones, &s.Version, &hired,
		&from, &to, &lockedFrom, &lockedTo, &jobs); err != nil {
		return nil, fmt.Errorf("read person: %w", err)
	}
	var err error
	if s.TimeZones, err = personzone.Decode(zones); err != nil {
		return nil, fmt.Errorf("decode time zones of person %d: %w", s.GetPersonId(), err)
	}
	if hired != nil {
		s.HireDate = hired.String()
	}
	s.PrimaryJobs = newPersonJobs(jobs)
	ended := buildRanges(from, to)
	s.LockedOut = record.NewPersonDays(civil.Normalise(append(buildRanges(lockedFrom, lockedTo), ended...)))
	s.Terminated = record.NewPersonDays(civil.Normalise(ended))
	return s, nil
}

func buildRanges(from, to []civil.Date) []civil.Range {
	out := make([]civil.Range, len(from))
	for i := range from {
		out[i] = civil.Range{From: from[i], To: to[i]}
	}
	return out
}
