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
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

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

// lockout returns the received lockout of a person, or nil.
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

// fixture is the service with everything around it but a network.
type fixture struct {
	pool    *pg.Pool
	nats    *nats.Conn
	users   *users
	service *commons.Service
	clock   *clock.Fake
	persons commonsv1.PersonServiceClient

	termRequests commonsv1.TermRequestServiceClient
	newHires     commonsv1.NewHireServiceClient
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	sets, err := commons.Migrations()
	require.NoError(t, err)
	b := &fixture{pool: pgtest.New(t, sets...), users: &users{
		accounts: map[int64]*authv1.User{}, lockouts: map[int64]*authv1.UserLockout{},
		powerful: map[int64]bool{}, received: map[string]*authv1.Initiator{},
	}}
	b.clock = clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	b.nats = natstest.New(t).Conn()
	auth, local := rpctest.Local(t), rpctest.Local(t)
	authv1.RegisterUserServiceServer(auth, b.users)
	b.service, err = commons.New(t.Context(), commons.Config{DefaultTimeZone: "Europe/Zurich"}, commons.Deps{
		Backends: serve.Backends{
			Pool: b.pool, NATS: b.nats, Clock: b.clock, Log: pgtest.Log(t), Registry: prometheus.NewRegistry(),
		},
		Auth: auth.Conn("commons", nil),
	})
	require.NoError(t, err)
	b.service.Register(local)
	b.persons = commonsv1.NewPersonServiceClient(local.Conn("test", nil))
	b.termRequests = commonsv1.NewTermRequestServiceClient(local.Conn("test", nil))
	b.newHires = commonsv1.NewNewHireServiceClient(local.Conn("test", nil))
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

// events returns the events in the outbox, oldest first.
func (b *fixture) events(t *testing.T) []*commonsv1.PersonsChanged {
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

func (b *fixture) intents(t *testing.T) int {
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
