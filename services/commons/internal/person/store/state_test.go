package store_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

func spans(days []*commonsv1.PersonDays) string {
	var out []string
	for _, d := range days {
		out = append(out, d.GetFrom()+".."+d.GetTo())
	}
	return strings.Join(out, " ")
}

// The event tells other domains on which days a person is terminated. It also has the days on which
// they may not log in: those days, and the days on which their account is not active. Consecutive
// days are one range.
func TestDaysThatOtherDomainsKeep(t *testing.T) {
	t.Parallel()
	ctx, pool := newPool(t, `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body)
		SELECT 1, n, 'S' || n, 'Somebody', 'UTC', '' FROM generate_series(100, 120) AS n`)
	for i, c := range []struct {
		name                  string
		employment, account   string // from, to and status
		terminated, lockedOut string
	}{
		{"nothing is known", "", "", "", ""},
		{"active", `'2026-01-01', '3000-01-01', 'Active'`, `'2026-01-01', '3000-01-01', 'Active'`, "", ""},
		{"an inactive employment", `'2026-01-01', '2026-02-01', 'Inactive'`, "", "", ""},
		{"an inactive account", "", `'2026-01-01', '2026-02-01', 'Inactive'`, "", "2026-01-01..2026-02-01"},
		{"terminated", `'2026-03-01', '3000-01-01', 'Terminated'`, "", "2026-03-01..3000-01-01", "2026-03-01..3000-01-01"},
		{"terminated on the day on which the account ends", `'2026-03-01', '3000-01-01', 'Terminated'`, `'2026-02-01', '2026-03-01', 'Inactive'`, "2026-03-01..3000-01-01", "2026-02-01..3000-01-01"},
		{"terminated a day later", `'2026-03-02', '3000-01-01', 'Terminated'`, `'2026-02-01', '2026-03-01', 'Terminated'`, "2026-03-02..3000-01-01", "2026-02-01..2026-03-01 2026-03-02..3000-01-01"},
		{"twice", `'2026-01-01', '2026-02-01', 'Terminated'; '2026-03-01', '2026-04-01', 'Terminated'`, "", "2026-01-01..2026-02-01 2026-03-01..2026-04-01", "2026-01-01..2026-02-01 2026-03-01..2026-04-01"},
		{"of one day within the other", `'2026-03-01', '2026-04-01', 'Terminated'`, `'2026-03-10', '2026-03-11', 'Inactive'`, "2026-03-01..2026-04-01", "2026-03-01..2026-04-01"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			id := int64(100 + i)
			for table, rows := range map[string]string{"employment_status": c.employment, "user_account_status": c.account} {
				for row := range strings.SplitSeq(rows, ";") {
					if row != "" {
						_, err := pool.Exec(ctx, `INSERT INTO `+table+` (tenant_id, person_id, from_date, to_date, status) VALUES (1, $1, `+row+`)`, id)
						require.NoError(t, err)
					}
				}
			}
			named, err := store.IDsOfNumbers(ctx, pool, []string{" m1\u200b", "nobody"})
			require.NoError(t, err)
			states, err := store.ReadStates(ctx, pool, append(named, id, 99))
			require.NoError(t, err)
			require.Len(t, states, 2, "by id and by number")
			assert.Equal(t, "Europe/Berlin", states[0].GetTimeZone())
			assert.Equal(t, c.terminated, spans(states[1].GetTerminated()))
			assert.Equal(t, c.lockedOut, spans(states[1].GetLockedOut()))

			// The event of a change is computed from the message.
			known, err := store.Load(ctx, pool, []int64{id})
			require.NoError(t, err)
			published := store.Change{ID: id, Old: known[id], Draft: &rules.Draft{Record: known[id].Record}}.State()
			assert.Equal(t, c.terminated, spans(published.GetTerminated()))
			assert.Equal(t, c.lockedOut, spans(published.GetLockedOut()))
			assert.Equal(t, states[1].GetVersion()+1, published.GetVersion())
		})
	}
}
