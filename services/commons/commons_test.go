package commons_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/pkg/testkit/rpctest"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons"
)

// users stands for auth, another domain: it keeps accounts, refuses names that
// are taken, and can be made to fail.
type users struct {
	authv1.UnimplementedUserServiceServer
	mu       sync.Mutex
	accounts map[int64]*authv1.User
	lockouts map[int64]*authv1.UserLockout
	putErr   error
	// powerful are the persons whose users no caller may change, and received what
	// initiators were named, by operation.
	powerful map[int64]bool
	received map[string]*authv1.Initiator
	// lockErr is what LockOutUsers fails with.
	lockErr error
	// afterPut runs when accounts were stored.
	afterPut func()
}

func (u *users) PutUsers(_ context.Context, req *authv1.PutUsersRequest) (*emptypb.Empty, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.putErr != nil {
		return nil, u.putErr
	}
	var taken []int32
	for i, asked := range req.GetUsers() {
		for _, known := range u.accounts {
			if strings.EqualFold(known.GetUsername(), asked.GetUsername()) && known.GetPersonId() != asked.GetPersonId() {
				taken = append(taken, int32(i))
			}
		}
	}
	if taken != nil {
		return nil, fault.Conflict(fault.CodeConflict, "taken").WithDetails(&commonv1.ErrorDetails{ErrorOffsets: taken})
	}
	for _, asked := range req.GetUsers() {
		u.accounts[asked.GetPersonId()] = asked
	}
	if u.afterPut != nil {
		u.afterPut()
	}
	return &emptypb.Empty{}, nil
}

func (u *users) CheckUserChanges(_ context.Context, req *authv1.CheckUserChangesRequest) (*emptypb.Empty, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	details := &commonv1.ErrorDetails{Results: make([]*commonv1.BulkResult, len(req.GetChanges()))}
	for i, c := range req.GetChanges() {
		details.Results[i] = &commonv1.BulkResult{}
		if u.powerful[c.GetPersonId()] {
			details.ErrorOffsets = append(details.ErrorOffsets, int32(i))
			details.Results[i].Error = &commonv1.ErrorBody{ErrorCode: fault.CodeNoAccess, Message: "may do more"}
		}
	}
	if details.ErrorOffsets == nil {
		return &emptypb.Empty{}, nil
	}
	return nil, fault.Forbidden(fault.CodeNoAccess, "may do more").WithDetails(details)
}

func (u *users) DeleteUsers(_ context.Context, req *authv1.DeleteUsersRequest) (*emptypb.Empty, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.received["delete"] = req.GetInitiator()
	for _, id := range req.GetPersonIds() {
		delete(u.accounts, id)
	}
	return &emptypb.Empty{}, nil
}

func (u *users) LockOutUsers(_ context.Context, req *authv1.LockOutUsersRequest) (*emptypb.Empty, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.received["lock"] = req.GetInitiator()
	if u.lockErr != nil {
		return nil, u.lockErr
	}
	for _, l := range req.GetUsers() {
		u.lockouts[l.GetPersonId()] = l
	}
	return &emptypb.Empty{}, nil
}

// lockout returns what was received of a person, or nil.
func (u *users) lockout(person int64) *authv1.UserLockout {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.lockouts[person]
}

func (u *users) names() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var out []string
	for _, a := range u.accounts {
		out = append(out, a.GetUsername())
	}
	slices.Sort(out)
	return out
}

// bench is the service with everything around it but a network.
type bench struct {
	pool    *pg.Pool
	nats    *nats.Conn
	users   *users
	service *commons.Service
	clock   *clock.Fake
	persons commonsv1.PersonServiceClient

	termRequests commonsv1.TermRequestServiceClient
}

func newBench(t *testing.T) *bench {
	t.Helper()
	sets, err := commons.Migrations()
	require.NoError(t, err)
	b := &bench{pool: pgtest.New(t, sets...), users: &users{
		accounts: map[int64]*authv1.User{}, lockouts: map[int64]*authv1.UserLockout{},
		powerful: map[int64]bool{}, received: map[string]*authv1.Initiator{},
	}}
	b.clock = clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	b.nats = natstest.New(t).Conn()
	auth, local := rpctest.Local(t), rpctest.Local(t)
	authv1.RegisterUserServiceServer(auth, b.users)
	b.service, err = commons.New(t.Context(), commons.Config{DefaultTimeZone: "Europe/Zurich"}, commons.Deps{
		Engines: serve.Engines{
			Pool: b.pool, NATS: b.nats, Clock: b.clock, Log: pgtest.Log(t), Registry: prometheus.NewRegistry(),
		},
		Auth: auth.Conn("commons", nil),
	})
	require.NoError(t, err)
	b.service.Register(local)
	b.persons = commonsv1.NewPersonServiceClient(local.Conn("test", nil))
	b.termRequests = commonsv1.NewTermRequestServiceClient(local.Conn("test", nil))
	return b
}

func inTenant(t *testing.T, id int64) context.Context { return tenant.With(t.Context(), id) }

func ada(change ...func(*commonsv1.Person)) *commonsv1.Person {
	p := &commonsv1.Person{
		PersonInformation: &commonsv1.PersonInformation{
			Person: &commonsv1.PersonDetails{PersonNumber: "N-0412", FirstName: "Ada", LastName: "Okafor", HireDate: "2021-05-03"},
			EmploymentStatusList: []*commonsv1.EmploymentStatus{
				{EmploymentStatusName: "active"},
				{EmploymentStatusName: "Terminated", EffectiveDate: "2026-06-01"},
			},
			UserAccountStatusList:     []*commonsv1.UserAccountStatus{{UserAccountStatusName: "Active", EffectiveDate: "2021-05-03"}},
			BadgeAssignments:          []*commonsv1.BadgeAssignment{{BadgeNumber: "77"}, {BadgeNumber: "78"}},
			AccessAssignment:          &commonsv1.AccessAssignment{AccessProfileName: "Default"},
			PersonLicenseTypes:        []*commonsv1.PersonLicenseType{{LicenseTypeName: "Hourly Timekeeping", ActiveFlag: proto.Bool(true)}},
			PersonAuthenticationTypes: []*commonsv1.PersonAuthenticationType{{AuthenticationTypeName: "Basic", ActiveFlag: proto.Bool(true)}},
		},
		JobAssignment: &commonsv1.JobAssignment{
			JobAssignmentDetails: &commonsv1.JobAssignmentDetails{PayRuleName: "Full time", TimeZoneName: "Eastern"},
			PrimaryLaborAccounts: []*commonsv1.PrimaryLaborAccount{{
				OrganizationPath: "Acme/East/Store 12/Clerk",
				OrgPathByCriteria: &commonsv1.OrganizationCriteria{OrgNodes: []*commonsv1.OrganizationCriterion{
					{Attribute: "name", LocationType: &commonv1.Ref{Qualifier: proto.String("Store")}, Value: "Store 12"},
				}},
			}},
			BaseWageRates:     []*commonsv1.BaseWageRate{{HourlyRate: proto.Float64(21.5), EffectiveDate: "2021-05-03", ExpirationDate: "2024-01-01"}},
			ScheduleGroupName: "Clerks",
		},
		User: &commonsv1.UserInformation{UserAccount: &commonsv1.UserAccount{
			UserName: "aokafor", UserPassword: "hush-hush",
		}, PasswordHistories: []*commonsv1.PasswordHistory{{Password: "hush-hush"}}},
		GdapAssignments: []*commonsv1.GroupDataAccess{{
			GdapName: "All stores", Role: "MANAGER_ROLE", DefaultSwitch: proto.Bool(true), EffectiveDate: "2025-01-01", ExpirationDate: "3000-01-01",
		}},
		Positions: []*structpb.Struct{{Fields: map[string]*structpb.Value{"name": structpb.NewStringValue("Clerk")}}},
	}
	for _, c := range change {
		c(p)
	}
	return p
}

// plain is a person with nothing that is not needed.
func plain(number string, change ...func(*commonsv1.Person)) *commonsv1.Person {
	p := &commonsv1.Person{PersonInformation: &commonsv1.PersonInformation{
		Person: &commonsv1.PersonDetails{PersonNumber: number, FirstName: "First", LastName: "Last"},
	}}
	for _, c := range change {
		c(p)
	}
	return p
}

func withUser(name string) func(*commonsv1.Person) {
	return func(p *commonsv1.Person) {
		p.User = &commonsv1.UserInformation{UserAccount: &commonsv1.UserAccount{UserName: name, UserPassword: "hush-hush"}}
	}
}

func TestCreatePerson(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := inTenant(t, 1)
	created, err := b.persons.CreatePerson(ctx, ada(func(p *commonsv1.Person) {
		p.PersonIdentity = &commonsv1.PersonIdentity{RequestItemId: proto.Int64(5)}
	}))
	require.NoError(t, err)
	id := created.GetPersonIdentity().GetPersonKey()
	assert.Positive(t, id)
	assert.Equal(t, "N-0412", created.GetPersonIdentity().GetPersonNumber())
	assert.EqualValues(t, 5, created.GetPersonIdentity().GetRequestItemId())
	assert.Equal(t, "Okafor, Ada", created.GetPersonInformation().GetPerson().GetFullName())
	assert.Empty(t, created.GetUser().GetUserAccount().GetUserPassword())

	read, err := b.persons.GetPerson(ctx, &commonsv1.GetPersonRequest{PersonId: id})
	require.NoError(t, err)
	created.PersonIdentity.RequestItemId = nil
	assert.Empty(t, diff(created, read), "what is read is what the creation returned")

	statuses := read.GetPersonInformation().GetEmploymentStatusList()
	require.Len(t, statuses, 2)
	assert.Equal(t, []string{"Active", "2021-05-03", "2026-06-01"},
		[]string{statuses[0].GetEmploymentStatusName(), statuses[0].GetEffectiveDate(), statuses[0].GetExpirationDate()})
	assert.Equal(t, "3000-01-01", statuses[1].GetExpirationDate())
	assert.Equal(t, "Eastern", read.GetJobAssignment().GetJobAssignmentDetails().GetTimeZoneName(), "as it was given")

	resolved, err := b.persons.ResolvePersons(ctx, &commonsv1.ResolvePersonsRequest{PersonNumbers: []string{"N-0412", "n-0412"}})
	require.NoError(t, err)
	want := &commonsv1.PersonState{
		PersonId: id, PersonNumber: "N-0412", FullName: "Okafor, Ada", TimeZone: "America/New_York", Version: 1, HireDate: "2021-05-03",
		Terminated: []*commonsv1.PersonDays{{From: "2026-06-01", To: "3000-01-01"}},
		LockedOut:  []*commonsv1.PersonDays{{From: "2026-06-01", To: "3000-01-01"}},
		// From her first day on, as days since 1970.
		PrimaryJobs: &commonsv1.PersonJobs{Jobs: []*commonsv1.PersonJob{{
			From: int32(civil.Of(2021, time.May, 3)), To: int32(civil.Of(3000, time.January, 1)), Path: "Acme/East/Store 12/Clerk",
		}}},
	}
	require.Len(t, resolved.GetPersons(), 1)
	assert.Empty(t, diff(want, resolved.GetPersons()[0]))
	events := b.events(t)
	require.Len(t, events, 1)
	assert.Empty(t, diff(&commonsv1.PersonsChanged{Persons: []*commonsv1.PersonState{want}}, events[0]))

	account := b.users.accounts[id]
	require.NotNil(t, account)
	assert.Equal(t, []string{"aokafor", "hush-hush", "Default"}, []string{account.GetUsername(), account.GetPassword(), account.GetAccessProfile()})
	var leaks int
	require.NoError(t, b.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM person WHERE position('hush-hush'::bytea IN body) > 0)
		+ (SELECT count(*) FROM outbox WHERE position('hush-hush'::bytea IN payload) > 0)`).Scan(&leaks))
	assert.Zero(t, leaks, "the password is nowhere in our database")

	_, err = b.persons.CreatePerson(ctx, ada())
	assert.True(t, fault.HasCode(err, "WCO-101247"), err)
	_, err = b.persons.GetPerson(ctx, &commonsv1.GetPersonRequest{PersonId: id + 1})
	assert.True(t, fault.HasCode(err, "WCO-101263") && fault.HasStatus(err, 400), err)
	_, err = b.persons.GetPerson(inTenant(t, 2), &commonsv1.GetPersonRequest{PersonId: id})
	assert.True(t, fault.HasStatus(err, 400), "another tenant's person")
}

func TestMultiCreatePersons(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := inTenant(t, 1)
	_, err := b.persons.CreatePerson(ctx, plain("old", withUser("old.user")))
	require.NoError(t, err)

	list := &commonsv1.PersonList{Persons: []*commonsv1.Person{
		plain("a", withUser("a.user")),
		plain("old"),
		plain("b", func(p *commonsv1.Person) { p.PersonInformation.Person.LastName = "" }),
		plain("a"),
		plain("c", withUser("OLD.USER")),
		plain("d"),
	}}
	response, err := b.persons.MultiCreatePersons(ctx, list)
	require.NoError(t, err)
	assert.Empty(t, response.GetPersons())
	failure := response.GetFailure()
	assert.Equal(t, "WCO-101271", failure.GetErrorCode())
	assert.Equal(t, []int32{1, 2, 3, 4}, failure.GetDetails().GetErrorOffsets())
	results := failure.GetDetails().GetResults()
	require.Len(t, results, 6)
	for i, code := range []string{"", "WCO-101247", "WCO-101231", "WCO-101247", "WCO-101247", ""} {
		t.Run(code, func(t *testing.T) {
			assert.Equal(t, code, results[i].GetError().GetErrorCode(), i)
		})
	}
	assert.Contains(t, results[2].GetError().GetMessage(), "personInformation.person.lastName")
	assert.Contains(t, results[4].GetError().GetMessage(), "user.userAccount.userName")
	assert.NotContains(t, failure.String(), "hush-hush")
	echoed := &commonsv1.Person{}
	require.NoError(t, results[4].GetError().GetDetails().GetInput().UnmarshalTo(echoed))
	assert.Equal(t, "c", echoed.GetPersonInformation().GetPerson().GetPersonNumber())

	assert.Equal(t, []string{"a.user", "old.user"}, b.users.names())
	assert.Zero(t, b.intents(t))
	events := b.events(t)
	require.Len(t, events, 2, "one event for each transaction")
	assert.Len(t, events[1].GetPersons(), 2)

	t.Run("when all fail the response is 400", func(t *testing.T) {
		_, err := b.persons.MultiCreatePersons(ctx, &commonsv1.PersonList{Persons: []*commonsv1.Person{plain("old"), plain("a")}})
		assert.True(t, fault.HasCode(err, "WCO-101271") && fault.HasStatus(err, 400), err)
		assert.Len(t, fault.FromError(err).Details.GetResults(), 2)
	})
	t.Run("more than a hundred are refused", func(t *testing.T) {
		many := &commonsv1.PersonList{}
		for i := range 101 {
			many.Persons = append(many.Persons, plain(fmt.Sprint("m", i)))
		}
		_, err := b.persons.MultiCreatePersons(ctx, many)
		require.True(t, fault.HasCode(err, "WCO-101207") && fault.HasStatus(err, 413), err)
		many.Persons = many.Persons[:100]
		response, err := b.persons.MultiCreatePersons(ctx, many)
		require.NoError(t, err)
		assert.Len(t, response.GetPersons(), 100)
	})
}

func TestAccountsOfFailedCreations(t *testing.T) {
	t.Parallel()
	t.Run("auth is away", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.users.putErr = fault.Unavailable("away", time.Second)
		_, err := b.persons.CreatePerson(inTenant(t, 1), ada())
		assert.True(t, fault.HasStatus(err, 503), err)
		assert.Zero(t, b.intents(t))
		assert.Empty(t, b.events(t))
	})
	t.Run("somebody takes the number after the account was made", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		ctx := inTenant(t, 1)
		b.users.afterPut = func() {
			_, err := b.pool.Exec(ctx, `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body)
				VALUES (1, 900000, 'N-0412', 'x', 'UTC', '')`)
			assert.NoError(t, err)
		}
		_, err := b.persons.CreatePerson(ctx, ada())
		assert.True(t, fault.HasCode(err, "WCO-101247"), err)
		assert.Empty(t, b.users.names(), "the account was taken back")
		assert.Zero(t, b.intents(t))
	})
	t.Run("the transaction fails", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		ctx := inTenant(t, 1)
		_, err := b.pool.Exec(ctx, `ALTER TABLE outbox ADD CONSTRAINT full_disk CHECK (false)`)
		require.NoError(t, err)
		_, err = b.persons.CreatePerson(ctx, ada())
		assert.True(t, fault.HasStatus(err, 500), err)
		assert.Empty(t, b.users.names())
		assert.Zero(t, b.intents(t))
	})
	t.Run("the sweep takes back what a crash left", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		ctx := inTenant(t, 1)
		b.users.accounts[7] = &authv1.User{PersonId: 7, Username: "old"}
		b.users.accounts[8] = &authv1.User{PersonId: 8, Username: "fresh"}
		_, err := b.pool.Exec(ctx, `INSERT INTO account_intent (tenant_id, person_id, created_at)
			VALUES (1, 7, now() - interval '1 hour'), (1, 8, now())`)
		require.NoError(t, err)
		running, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- b.service.Run(running) }()
		assert.Eventually(t, func() bool { return b.intents(t) == 1 }, 10*time.Second, 5*time.Millisecond)
		assert.Equal(t, []string{"fresh"}, b.users.names(), "a request may still be at work on the fresh one")
		stop()
		assert.NoError(t, <-done)
	})
}

func TestMultiReadBasePersons(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := inTenant(t, 1)
	made, err := b.persons.MultiCreatePersons(ctx, &commonsv1.PersonList{Persons: []*commonsv1.Person{plain("x"), ada()}})
	require.NoError(t, err)
	require.Len(t, made.GetPersons(), 2)
	read := func(key string, change func(*commonsv1.PersonWhere), values ...string) (*commonsv1.BasePersonList, error) {
		where := &commonsv1.PersonWhere{Employees: &commonsv1.PersonCriterion{Key: key, Values: values}}
		if change != nil {
			change(where)
		}
		return b.persons.MultiReadBasePersons(ctx, &commonsv1.MultiReadPersonsRequest{Where: where})
	}
	response, err := read("PersonNumber", nil, "N-0412", "x", "N-0412")
	require.NoError(t, err)
	require.Len(t, response.GetPersons(), 3)
	assert.Equal(t, "Okafor, Ada (N-0412)", response.GetPersons()[0].GetDisplayName())
	assert.Equal(t, "x", response.GetPersons()[1].GetPersonNumber())

	response, err = read("personid", nil, fmt.Sprint(made.GetPersons()[0].GetPersonIdentity().GetPersonKey()), "999999")
	require.NoError(t, err)
	assert.Equal(t, []int32{1}, response.GetFailure().GetDetails().GetErrorOffsets())
	assert.Equal(t, "WCO-101263", response.GetFailure().GetDetails().GetResults()[1].GetError().GetErrorCode())

	response, err = read("personnumber", func(w *commonsv1.PersonWhere) {
		w.OnlyActivePerson, w.SnapshotDate = proto.Bool(true), "2026-06-01"
	}, "N-0412", "x")
	require.NoError(t, err)
	require.Len(t, response.GetPersons(), 1, "one is terminated on that day")

	for name, c := range map[string]struct {
		key    string
		values []string
		code   string
	}{
		"bad key":     {"badge", []string{"1"}, "WCO-101203"},
		"no values":   {"personid", nil, "WCO-101202"},
		"empty value": {"personnumber", []string{""}, "WCO-101202"},
		"no id":       {"personid", []string{"x"}, "WCO-101202"},
		"all unknown": {"personnumber", []string{"y"}, "WCO-101271"},
		"too many":    {"personnumber", slices.Repeat([]string{"x"}, 1001), "WCO-101207"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(c.key, nil, c.values...)
			assert.True(t, fault.HasCode(err, c.code), err)
		})
	}
}

func TestTenantsAreApart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, id := range []int64{1, 2} {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			_, err := b.persons.CreatePerson(inTenant(t, id), ada(func(p *commonsv1.Person) { p.User = nil }))
			require.NoError(t, err, "person numbers are unique in a tenant only")
		})
	}
	// No WHERE: what stands between tenants here is the row-level security.
	for _, table := range []string{"person", "employment_status", "user_account_status", "badge_assignment", "primary_labor_account", "base_wage_rate"} {
		t.Run(table, func(t *testing.T) {
			var one, two, none int
			for ctx, into := range map[context.Context]*int{inTenant(t, 1): &one, inTenant(t, 2): &two, t.Context(): &none} {
				require.NoError(t, b.pool.QueryRow(ctx, `SELECT count(DISTINCT tenant_id) FROM `+table).Scan(into))
			}
			assert.Equal(t, []int{1, 1, 0}, []int{one, two, none}, table)
		})
	}
}

// events returns what the outbox holds, oldest first.
func (b *bench) events(t *testing.T) []*commonsv1.PersonsChanged {
	t.Helper()
	rows, err := b.pool.Query(tenant.All(t.Context()), `SELECT payload FROM outbox WHERE subject = 'rotaloom.commons.person.changed' ORDER BY id`)
	require.NoError(t, err)
	payloads, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	require.NoError(t, err)
	var out []*commonsv1.PersonsChanged
	for _, payload := range payloads {
		event := &commonsv1.PersonsChanged{}
		require.NoError(t, proto.Unmarshal(payload, event))
		out = append(out, event)
	}
	return out
}

func (b *bench) intents(t *testing.T) int {
	t.Helper()
	var n int
	require.NoError(t, b.pool.QueryRow(tenant.All(t.Context()), `SELECT count(*) FROM account_intent`).Scan(&n))
	return n
}

// diff says how two messages differ, or "".
func diff(want, got proto.Message) string {
	if proto.Equal(want, got) {
		return ""
	}
	return fmt.Sprintf("want %v\ngot  %v", want, got)
}
