package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// Location 1 moved from N/1 to S/1 on 2026-03-01, and location 2 has the old path from 2026-06-01 on.
func TestPrimaryJobsOfOtherServices(t *testing.T) {
	t.Parallel()
	ctx, pool := newPool(t,
		`INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body) VALUES (1, 4, 'M4', 'Four', 'UTC', '')`,
		`INSERT INTO location (tenant_id, id, persistent_id) VALUES (1, 1, 'a'), (1, 2, 'b'), (1, 3, 'c')`,
		`INSERT INTO location_path (tenant_id, location_id, from_date, to_date, depth, lineage, path) VALUES
			(1, 1, '1900-01-01', '2026-03-01', 1, '.1.', 'N/1'), (1, 1, '2026-03-01', '3000-01-01', 1, '.1.', 'S/1'),
			(1, 2, '2026-06-01', '3000-01-01', 1, '.2.', 'N/1'), (1, 3, '2026-02-01', '3000-01-01', 1, '.3.', 'Later')`,
		`INSERT INTO former_location_path VALUES (1, 'N/One', 1)`,
		`INSERT INTO primary_labor_account (tenant_id, person_id, from_date, to_date, organization_path, labor_category_name) VALUES
			(1, 1, '2026-01-01', '2026-03-01', 'N/1', ''), (1, 1, '2026-03-01', '3000-01-01', 'S/1', ''),
			(1, 2, '2026-01-01', '2026-02-01', 'Text', ''), (1, 2, '2026-02-01', '2026-04-01', '', ''), (1, 3, '2026-01-01', '3000-01-01', 'Later', ''),
			(1, 4, '2026-01-01', '3000-01-01', 'N/1', '')`)
	states, err := store.ReadStates(ctx, pool, []int64{1, 2, 3, 4})
	require.NoError(t, err)
	got := map[int64][]string{}
	for _, s := range states {
		for _, j := range s.GetPrimaryJobs().GetJobs() {
			got[s.GetPersonId()] = append(got[s.GetPersonId()], fmt.Sprint(civil.Date(j.GetFrom()), " ", civil.Date(j.GetTo()), " ", j.GetPath(), " ", j.GetLocationId(), " ", j.GetOtherPaths()))
		}
	}
	assert.Equal(t, map[int64][]string{
		1: {"2026-01-01 2026-03-01 N/1 1 [N/One]", "2026-03-01 2026-06-01 S/1 1 [N/1 N/One]", "2026-06-01 3000-01-01 S/1 1 [N/One]"},
		2: {"2026-01-01 2026-02-01 Text 0 []"},
		3: {"2026-01-01 3000-01-01 Later 3 []"},
		4: {"2026-01-01 2026-03-01 N/1 1 [N/One]", "2026-03-01 2026-06-01 N/1 1 [N/One S/1]", "2026-06-01 3000-01-01 N/1 2 []"},
	}, got)

	published := []*commonsv1.PersonState{{PersonId: 2}, {PersonId: 1}}
	require.NoError(t, store.FillPrimaryJobs(ctx, pool, published))
	assert.Len(t, published[0].GetPrimaryJobs().GetJobs(), 1)
	assert.Len(t, published[1].GetPrimaryJobs().GetJobs(), 3)
}
