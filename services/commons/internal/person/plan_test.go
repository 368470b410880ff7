package person

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/commons/internal/search"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// The statements that find, read and write persons use indexes. They run as the role of the
// service, because row-level security adds conditions to them.
func TestPersonsAreFoundByIndex(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), 1)
	for i, sql := range []string{
		`INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body, user_name, aoid, coid)
			SELECT 1, g, 'n' || g, 'x', 'UTC', '', CASE WHEN g = 9 THEN '' ELSE 'U' || g END, 'a' || g, 'c' FROM generate_series(1, 20000) g`,
		`INSERT INTO badge_assignment SELECT 1, g, 'b' || g, '2020-01-01', '3000-01-01' FROM generate_series(1, 20000) g`,
		`INSERT INTO employment_status SELECT 1, g, '2020-01-01', '3000-01-01', 'Active' FROM generate_series(1, 20000) g`,
		`INSERT INTO email_address (tenant_id, person_id, contact_type_name, address) SELECT 1, g, 'Work', g || '@X' FROM generate_series(1, 20000) g`,
		`SELECT setval('person_id', 20000)`,
		`ANALYZE person, badge_assignment, employment_status, email_address`,
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			_, err := pool.Exec(ctx, sql)
			require.NoError(t, err)
		})
	}
	recorded, statements := pgtest.Recorded(t, pool)
	now := clock.NewFake(time.Date(2026, time.March, 15, 12, 0, 0, 0, time.UTC))
	h, err := New(Config{DefaultTimeZone: "UTC", DefaultCurrency: "USD"}, Deps{
		Pool: recorded, Rows: rowvisibility.New(now), Groups: search.NewGroups(recorded, now, time.UTC), Log: pgtest.Log(t), Clock: now,
	})
	require.NoError(t, err)
	everyOperation(t, ctx, h)
	plans := statements.AssertNoScan(t, ctx, pool, "person", "badge_assignment", "employment_status", "email_address")
	assert.Greater(t, len(plans), 15, "the operations ran many statements")
}

// everyOperation finds, reads and writes persons in every way.
func everyOperation(t *testing.T, ctx context.Context, h *Handler) {
	t.Helper()
	where := func(key string, values ...string) *commonsv1.PersonWhere {
		return &commonsv1.PersonWhere{Employees: &commonsv1.PersonCriterion{Key: key, Values: values}}
	}
	for _, w := range []*commonsv1.PersonWhere{
		where("personid", "7", "8"), where("personnumber", "n7", "n8"), where("username", "U7"), where("badgenumber", "b7"), where("useremailaddress", "7@x"),
		{Employees: &commonsv1.PersonCriterion{MultiKey: []string{"aoid", "coid"}, MultiKeyValues: []*structpb.ListValue{
			{Values: []*structpb.Value{structpb.NewStringValue("a7"), structpb.NewStringValue("c")}},
		}}},
	} {
		read, err := h.MultiReadPersons(ctx, &commonsv1.MultiReadPersonsRequest{Where: w})
		require.NoError(t, err)
		assert.EqualValues(t, 7, read.GetPersons()[0].GetPersonIdentity().GetPersonKey())
		_, err = h.MultiReadBasePersons(ctx, &commonsv1.MultiReadPersonsRequest{Where: w})
		require.NoError(t, err)
	}
	for _, req := range []*commonsv1.ApplyReadPersonsRequest{
		{Count: proto.Int64(100)}, {Count: proto.Int64(100), Index: proto.Int64(20)}, {Count: proto.Int64(1000), Where: &commonsv1.ApplyReadPersonsWhere{EmploymentStatus: "Active"}},
	} {
		page, err := h.ApplyReadPersons(ctx, req)
		require.NoError(t, err)
		assert.Len(t, page.GetRecords().GetRecords(), int(req.GetCount()))
	}
	resolved, err := h.ResolvePersons(ctx, &commonsv1.ResolvePersonsRequest{Ids: []int64{7}, PersonNumbers: []string{"n8"}})
	require.NoError(t, err)
	assert.Len(t, resolved.GetPersons(), 2)
	// Auth need not be notified of a person without a user name.
	known, fresh := valid(), valid()
	known.PersonIdentity = &commonsv1.PersonIdentity{PersonNumber: proto.String("n9")}
	known.PersonInformation.Person.PersonNumber = "renamed"
	written, err := h.MultiUpsertPersons(ctx, &commonsv1.PersonList{Persons: []*commonsv1.Person{known, fresh}})
	require.NoError(t, err)
	assert.Len(t, written.GetPersons(), 2)
}

// valid is a person who passes the rules.
func valid() *commonsv1.Person {
	return &commonsv1.Person{
		PersonInformation: &commonsv1.PersonInformation{
			Person: &commonsv1.PersonDetails{PersonNumber: "1", FirstName: "Ada", LastName: "Okafor", HireDate: "2021-05-03"},
		},
		JobAssignment: &commonsv1.JobAssignment{JobAssignmentDetails: &commonsv1.JobAssignmentDetails{}},
	}
}
