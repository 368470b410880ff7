package contact

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

func TestResolveContacts(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), 1)
	for i, sql := range []string{
		`INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body, supervisor_person_number, locale_policy_name, user_name)
			VALUES (1, 1, 'M', 'Boss, B', 'UTC', '', '', '', ''), (1, 2, 'E', 'Worker, W', 'UTC', '', 'M', 'de-CH', 'ww'), (1, 3, 'L', 'Lone, L', 'UTC', '', 'GONE', '', '')`,
		`INSERT INTO email_address (tenant_id, person_id, contact_type_name, address, notification)
			VALUES (1, 1, 'Work', 'b@example.com', NULL), (1, 2, 'Home', 'w@example.com', true), (1, 2, 'Work', 'quiet@example.com', false)`,
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			_, err := pool.Exec(ctx, sql)
			require.NoError(t, err)
		})
	}
	h := New(pool, nil)

	got, err := h.ResolveContacts(ctx, &commonsv1.ResolveContactsRequest{Ids: []int64{3, 99}, PersonNumbers: []string{"E", "None"}, Managers: true})
	require.NoError(t, err)
	require.Len(t, got.GetPersons(), 2)
	worker := got.GetPersons()[0]
	assert.Equal(t, "de-CH", worker.GetLocale())
	assert.Equal(t, "ww", worker.GetUserName())
	assert.Equal(t, []string{"w@example.com"}, worker.GetAddresses(), "an address that says no gets nothing")
	assert.EqualValues(t, 1, worker.GetManagerId())
	assert.Zero(t, got.GetPersons()[1].GetManagerId(), "a manager who is not there")
	require.Len(t, got.GetManagers(), 1)
	assert.Equal(t, []string{"b@example.com"}, got.GetManagers()[0].GetAddresses(), "an address without a word on it")

	own := authn.With(ctx, &authn.Principal{Tenant: 1, Subject: "w", PersonID: 2, Rows: "own"}, "")
	got, err = h.ResolveContacts(own, &commonsv1.ResolveContactsRequest{Ids: []int64{2, 3}, Managers: true})
	require.NoError(t, err)
	require.Len(t, got.GetPersons(), 1, "whom the caller sees")
	require.Len(t, got.GetManagers(), 1, "the manager need not be seen")

	got, err = h.ResolveContacts(tenant.With(t.Context(), 2), &commonsv1.ResolveContactsRequest{Ids: []int64{2}})
	require.NoError(t, err)
	assert.Empty(t, got.GetPersons(), "another tenant")
}
