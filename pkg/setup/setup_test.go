package setup_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

func codes(prefix string) setup.Codes {
	return setup.Codes{
		Missing: prefix + "-missing", Invalid: prefix + "-invalid", Taken: prefix + "-taken",
		Unknown: prefix + "-unknown", OtherID: prefix + "-other-id", InUse: prefix + "-in-use",
	}
}

// payCodes has no references, accrualCodes refers to payCodes by a list, and profiles to
// accrualCodes by a list of messages.
func payCodes() *setup.Kind[*timekeepingv1.PayCode] {
	return setup.NewKind(setup.Declaration[*timekeepingv1.PayCode]{Codes: codes("pay"), What: "pay code", Table: "pay_code"})
}

func accrualCodes() *setup.Kind[*timekeepingv1.AccrualCode] {
	return setup.NewKind(setup.Declaration[*timekeepingv1.AccrualCode]{
		Codes: codes("accrual"), What: "accrual code", Table: "accrual_code",
		References: []setup.Reference{{Field: "pay_codes", Distinct: true, To: payCodes().Only(func(path string, p *timekeepingv1.PayCode) error {
			if p.GetMoney() {
				return fault.Invalid("accrual-money", path+" must not be of money.")
			}
			return nil
		})}},
	})
}

func profiles() *setup.Kind[*timekeepingv1.AccrualProfile] {
	return setup.NewKind(setup.Declaration[*timekeepingv1.AccrualProfile]{
		Codes: codes("profile"), What: "accrual profile", Table: "accrual_profile",
		References: []setup.Reference{{Field: "accrual_policies.accrual_code", To: accrualCodes(), Distinct: true}},
	})
}

func groups() *setup.Kind[*schedulingv1.ScheduleGroup] {
	return setup.NewKind(setup.Declaration[*schedulingv1.ScheduleGroup]{
		Codes: codes("group"), What: "schedule group", Table: "schedule_group", Unique: []string{"persistent_id"},
	})
}

type fixture struct {
	ctx      context.Context
	pool     *pg.Pool
	pay      setup.Resource[*timekeepingv1.PayCode]
	accrual  setup.Resource[*timekeepingv1.AccrualCode]
	profiles setup.Resource[*timekeepingv1.AccrualProfile]
	groups   setup.Resource[*schedulingv1.ScheduleGroup]
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	var sql strings.Builder
	sql.WriteString("-- +goose Up\n")
	for _, table := range []string{"pay_code", "accrual_code", "accrual_profile", "schedule_group"} {
		fmt.Fprintf(&sql, `
CREATE TABLE %[1]s (
    tenant_id bigint NOT NULL, id bigint GENERATED ALWAYS AS IDENTITY, name text NOT NULL, version bigint NOT NULL DEFAULT 1,
    body bytea NOT NULL, updated_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX %[1]s_name ON %[1]s (tenant_id, lower(name));
SELECT isolate_tenants('%[1]s');
`, table)
	}
	pool := pgtest.New(t, setup.Migrations(), pg.Migrations{Table: "test_version", FS: fstest.MapFS{"0001_test.sql": {Data: []byte(sql.String())}}})
	return &fixture{
		ctx: tenant.With(t.Context(), 1), pool: pool,
		pay:      setup.Resource[*timekeepingv1.PayCode]{Kind: payCodes(), Pool: pool},
		accrual:  setup.Resource[*timekeepingv1.AccrualCode]{Kind: accrualCodes(), Pool: pool},
		profiles: setup.Resource[*timekeepingv1.AccrualProfile]{Kind: profiles(), Pool: pool},
		groups:   setup.Resource[*schedulingv1.ScheduleGroup]{Kind: groups(), Pool: pool},
	}
}

func (f *fixture) createPay(t *testing.T, name string) *timekeepingv1.PayCode {
	t.Helper()
	out, err := f.pay.Create(f.ctx, &timekeepingv1.PayCode{Name: name})
	require.NoError(t, err)
	return out
}

func byName(name string) *commonv1.Ref { return &commonv1.Ref{Qualifier: proto.String(name)} }

// requireCode checks the code of an error and that its message has a text.
func requireCode(t *testing.T, err error, code, text string) {
	t.Helper()
	require.Error(t, err)
	f := fault.FromError(err)
	assert.Equal(t, code, f.Code, f.Message)
	assert.Contains(t, f.Message, text)
}

func TestReferencesFollowRenames(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	sick := f.createPay(t, "Sick")
	accrual, err := f.accrual.Create(f.ctx, &timekeepingv1.AccrualCode{Name: "Sick leave", PayCodes: []*commonv1.Ref{byName("sICK")}})
	require.NoError(t, err)
	require.Len(t, accrual.GetPayCodes(), 1)
	assert.Equal(t, sick.GetId(), accrual.GetPayCodes()[0].GetId())
	assert.Equal(t, "Sick", accrual.GetPayCodes()[0].GetQualifier())

	_, err = f.pay.Update(f.ctx, sick.GetId(), &timekeepingv1.PayCode{Name: "Illness"})
	require.NoError(t, err)
	read, err := f.accrual.Get(f.ctx, accrual.GetId())
	require.NoError(t, err)
	assert.Equal(t, "Illness", read.GetPayCodes()[0].GetQualifier())
	assert.Equal(t, "Illness", read.GetPayCodes()[0].GetName())
}

func TestReferencesAreChecked(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.createPay(t, "Sick")
	_, err := f.pay.Create(f.ctx, &timekeepingv1.PayCode{Name: "Bonus", Money: proto.Bool(true)})
	require.NoError(t, err)
	for _, c := range []struct {
		name       string
		refs       []*commonv1.Ref
		code, text string
	}{
		{"an unknown name", []*commonv1.Ref{byName("Sick"), byName("None")}, "pay-unknown", `The pay code "None" (payCodes[1]) does not exist.`},
		{"an unknown id", []*commonv1.Ref{{Id: proto.Int64(99), Qualifier: proto.String("Sick")}}, "pay-unknown", "with the id 99 (payCodes[0])"},
		{"neither id nor name", []*commonv1.Ref{{}}, "pay-missing", "payCodes[0].id is missing."},
		{"the same one twice", []*commonv1.Ref{byName("Sick"), byName("SICK")}, "accrual-invalid", `payCodes[1] repeats "Sick".`},
		{"a resource that the kind refuses", []*commonv1.Ref{byName("Bonus")}, "accrual-money", "payCodes[0] must not be of money."},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := f.accrual.Create(f.ctx, &timekeepingv1.AccrualCode{Name: c.name, PayCodes: c.refs})
			requireCode(t, err, c.code, c.text)
		})
	}
	_, err = f.profiles.Create(f.ctx, &timekeepingv1.AccrualProfile{Name: "P", AccrualPolicies: []*timekeepingv1.AccrualPolicy{{AccrualCode: byName("None")}}})
	requireCode(t, err, "accrual-unknown", "(accrualPolicies[0].accrualCode)")
}

// The id of a reference wins over its name. Other texts of a reference are not stored.
func TestResolve(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	sick, rest := f.createPay(t, "Sick"), f.createPay(t, "Rest")
	for _, c := range []struct {
		name string
		ref  *commonv1.Ref
		want *timekeepingv1.PayCode
	}{
		{"a name in other letters", byName("sICK"), sick},
		{"an id and another name", &commonv1.Ref{Id: rest.Id, Qualifier: proto.String("Sick")}, rest},
		{"other texts", &commonv1.Ref{Id: rest.Id, Name: proto.String("x"), LocalizedQualifier: proto.String("y")}, rest},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error {
				found, err := payCodes().Resolve(ctx, tx, "payCode", c.ref)
				assert.True(t, proto.Equal(c.want, found), "%v", found)
				return err
			})
			require.NoError(t, err)
			name := proto.String(c.want.GetName())
			assert.True(t, proto.Equal(&commonv1.Ref{Id: c.want.Id, Qualifier: name, Name: name}, c.ref), "%v", c.ref)
		})
	}
}

func TestReferencedResourcesAreNotDeleted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	sick, rest := f.createPay(t, "Sick"), f.createPay(t, "Rest")
	accrual, err := f.accrual.Create(f.ctx, &timekeepingv1.AccrualCode{Name: "Leave", PayCodes: []*commonv1.Ref{byName("Sick"), byName("Rest")}})
	require.NoError(t, err)

	_, err = f.pay.Delete(f.ctx, sick.GetId(), nil)
	requireCode(t, err, "pay-in-use", `The accrual code "Leave" refers to the pay code "Sick".`)
	_, err = f.pay.DeleteMany(f.ctx, "refs", []*commonv1.Ref{byName("Rest")})
	requireCode(t, err, "pay-in-use", `"Rest"`)

	_, err = f.accrual.Update(f.ctx, accrual.GetId(), &timekeepingv1.AccrualCode{Name: "Leave", PayCodes: []*commonv1.Ref{byName("Rest")}})
	require.NoError(t, err)
	_, err = f.pay.Delete(f.ctx, sick.GetId(), nil)
	require.NoError(t, err, "the update removed the reference")
	_, err = f.accrual.Delete(f.ctx, accrual.GetId(), nil)
	require.NoError(t, err)
	_, err = f.pay.Delete(f.ctx, rest.GetId(), nil)
	require.NoError(t, err, "the deletion removed the reference")
	_, err = f.pay.Get(f.ctx, rest.GetId())
	requireCode(t, err, "pay-unknown", "There is no pay code with the id")
}

// A concurrent reference and deletion never leave a reference to a deleted resource.
func TestReferencesAndDeletionsTakeTurns(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range 20 {
		name := fmt.Sprintf("Pay %d", i)
		pay := f.createPay(t, name)
		var stored, deleted error
		var both sync.WaitGroup
		both.Go(func() {
			_, stored = f.accrual.Create(f.ctx, &timekeepingv1.AccrualCode{Name: name, PayCodes: []*commonv1.Ref{byName(name)}})
		})
		both.Go(func() { _, deleted = f.pay.Delete(f.ctx, pay.GetId(), nil) })
		both.Wait()
		if stored == nil {
			requireCode(t, deleted, "pay-in-use", name)
		} else {
			requireCode(t, stored, "pay-unknown", name)
			require.NoError(t, deleted)
		}
	}
}

func TestUniqueTexts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	create := func(name, id string) (*schedulingv1.ScheduleGroup, error) {
		return f.groups.Create(f.ctx, &schedulingv1.ScheduleGroup{Name: name, PersistentId: id})
	}
	first, err := create("First", "p-1")
	require.NoError(t, err)
	_, err = create("Second", "p-1")
	requireCode(t, err, "group-taken", `The schedule group "First" has the persistentId "p-1" already.`)
	_, err = create("Third", "")
	require.NoError(t, err)
	_, err = create("Fourth", "")
	require.NoError(t, err, "an empty text is not compared")

	found, err := groups().FindUnique(f.ctx, f.pool, "persistent_id", []string{"p-1", "p-2"})
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Equal(t, "First", found[0].GetName())

	_, err = f.groups.Update(f.ctx, first.GetId(), &schedulingv1.ScheduleGroup{Name: "First", PersistentId: "p-2"})
	require.NoError(t, err)
	_, err = create("Fifth", "p-1")
	require.NoError(t, err, "the update freed the text")
	_, err = f.groups.Delete(f.ctx, first.GetId(), nil)
	require.NoError(t, err)
	_, err = create("Sixth", "p-2")
	require.NoError(t, err, "the deletion freed the text")
}

func TestBulk(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	code := func(id int64, name string, version int64) *timekeepingv1.PayCode {
		c := &timekeepingv1.PayCode{Name: name}
		if id != 0 {
			c.Id = &id
		}
		if version != 0 {
			c.Version = &version
		}
		return c
	}
	a, b := f.createPay(t, "A"), f.createPay(t, "B")
	for _, c := range []struct {
		name  string
		run   func(context.Context, []*timekeepingv1.PayCode, bool) ([]*timekeepingv1.PayCode, *commonv1.ErrorBody, error)
		items []*timekeepingv1.PayCode
		// want has the code of each item, "" for a success.
		want []string
	}{
		{"create", f.pay.CreateMany, []*timekeepingv1.PayCode{code(0, "C", 0), code(0, "a", 0), code(0, " ", 0), code(0, "c", 0)}, []string{"", "pay-taken", "pay-missing", "pay-taken"}},
		{
			"update", f.pay.UpdateMany,
			[]*timekeepingv1.PayCode{code(a.GetId(), "A2", 1), code(0, "B", 7), code(a.GetId(), "A3", 0), code(99, "X", 0), code(0, "Y", 0), code(0, "", 0)},
			[]string{"", fault.CodeStale, "pay-invalid", "pay-unknown", "pay-unknown", "pay-missing"},
		},
		{"upsert", f.pay.UpsertMany, []*timekeepingv1.PayCode{code(0, "b", 0), code(0, "D", 0), code(98, "E", 0)}, []string{"", "", "pay-unknown"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := c.run(f.ctx, c.items, false)
			require.Error(t, err)
			before, err := payCodes().All(f.ctx, f.pool)
			require.NoError(t, err)

			_, failure, err := c.run(f.ctx, c.items, true)
			require.NoError(t, err)
			var got []string
			stored := len(before)
			for i, result := range failure.GetDetails().GetResults() {
				got = append(got, result.GetError().GetErrorCode())
				if result.GetError() != nil {
					continue
				}
				success := &timekeepingv1.PayCode{}
				require.NoError(t, result.GetSuccess().UnmarshalTo(success))
				assert.Equal(t, c.items[i].GetName(), success.GetName())
				if success.GetVersion() == 1 {
					stored++
				}
			}
			assert.Equal(t, c.want, got)
			after, err := payCodes().All(f.ctx, f.pool)
			require.NoError(t, err)
			assert.Len(t, after, stored)
		})
	}
	_, err := f.pay.DeleteMany(f.ctx, "refs", []*commonv1.Ref{{Id: b.Id}, byName("None")})
	requireCode(t, err, "pay-unknown", "(refs[1])")
	_, err = f.pay.DeleteMany(f.ctx, "refs", []*commonv1.Ref{{Id: b.Id}, byName("b"), {Id: a.Id}})
	require.NoError(t, err)
	left, err := f.pay.Read(f.ctx, "refs", nil)
	require.NoError(t, err)
	require.Len(t, left, 2)
	assert.Equal(t, "C", left[0].GetName())
}

// Two callers that upsert a new name at the same time store it once.
func TestConcurrentUpserts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range 10 {
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				_, _, err := f.pay.UpsertMany(f.ctx, []*timekeepingv1.PayCode{{Name: fmt.Sprint(i)}}, false)
				assert.NoError(t, err)
			})
		}
		both.Wait()
	}
	list, err := payCodes().All(f.ctx, f.pool)
	require.NoError(t, err)
	require.Len(t, list, 10)
	for _, p := range list {
		assert.EqualValues(t, 2, p.GetVersion(), p.GetName())
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.createPay(t, "P")
	_, err := f.pay.Update(f.ctx, p.GetId(), &timekeepingv1.PayCode{Id: proto.Int64(p.GetId() + 1), Name: "P"})
	requireCode(t, err, "pay-other-id", "in the body")
	two, err := f.pay.Update(f.ctx, p.GetId(), &timekeepingv1.PayCode{Name: "P", Version: proto.Int64(1)})
	require.NoError(t, err)
	assert.EqualValues(t, 2, two.GetVersion())
	_, err = f.pay.Update(f.ctx, p.GetId(), &timekeepingv1.PayCode{Name: "P", Version: proto.Int64(1)})
	requireCode(t, err, fault.CodeStale, "Read it again.")
	_, err = f.pay.Delete(f.ctx, p.GetId(), proto.Int64(1))
	requireCode(t, err, fault.CodeStale, "Read it again.")
	_, err = f.pay.Delete(f.ctx, p.GetId(), proto.Int64(2))
	require.NoError(t, err)
	_, err = f.pay.Delete(f.ctx, p.GetId(), nil)
	requireCode(t, err, "pay-unknown", "There is no pay code")
}

// Another tenant sees neither resources nor references nor unique texts.
func TestTenantsAreSeparate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, err := f.groups.Create(f.ctx, &schedulingv1.ScheduleGroup{Name: "G", PersistentId: "p"})
	require.NoError(t, err)
	other := tenant.With(t.Context(), 2)
	_, err = f.groups.Create(other, &schedulingv1.ScheduleGroup{Name: "G", PersistentId: "p"})
	require.NoError(t, err)
	found, err := groups().FindUnique(other, f.pool, "persistent_id", []string{"p"})
	require.NoError(t, err)
	assert.Len(t, found, 1)
	sick := f.createPay(t, "Sick")
	_, err = f.accrual.Create(other, &timekeepingv1.AccrualCode{Name: "A", PayCodes: []*commonv1.Ref{{Id: sick.Id}}})
	requireCode(t, err, "pay-unknown", "does not exist")
}

// A store step that fails undoes the whole change.
func TestStepsShareTheTransaction(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.pay.AfterStore = func(_ context.Context, _ pgx.Tx, _, stored *timekeepingv1.PayCode) error {
		if stored.GetName() == "bad" {
			return fault.Invalid("pay-bad", "bad")
		}
		return nil
	}
	_, failure, err := f.pay.CreateMany(f.ctx, []*timekeepingv1.PayCode{{Name: "good"}, {Name: "bad"}}, true)
	require.NoError(t, err)
	assert.Equal(t, []int32{1}, failure.GetDetails().GetErrorOffsets())
	list, err := payCodes().All(f.ctx, f.pool)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, "good", list[0].GetName())
}

// AfterDelete runs in the transaction of the deletion, with the version of the deletion.
func TestStepsAfterADeletionShareItsTransaction(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var deleted []string
	f.pay.AfterDelete = func(_ context.Context, _ pgx.Tx, p *timekeepingv1.PayCode, version int64) error {
		deleted = append(deleted, fmt.Sprint(p.GetName(), version))
		if p.GetName() == "bad" {
			return fault.Invalid("pay-bad", "bad")
		}
		return nil
	}
	good, bad := f.createPay(t, "good"), f.createPay(t, "bad")
	_, err := f.pay.Delete(f.ctx, good.GetId(), nil)
	require.NoError(t, err)
	_, err = f.pay.Delete(f.ctx, bad.GetId(), nil)
	requireCode(t, err, "pay-bad", "bad")
	assert.Equal(t, []string{"good2", "bad2"}, deleted)
	list, err := payCodes().All(f.ctx, f.pool)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, "bad", list[0].GetName())
}

// A transaction that the database aborts runs again from the beginning, also for a bulk update.
func TestBulkUpdatesRunAgainAfterADeadlock(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, b := f.createPay(t, "A"), f.createPay(t, "B")
	aborted := false
	f.pay.AfterStore = func(_ context.Context, _ pgx.Tx, _, stored *timekeepingv1.PayCode) error {
		if stored.GetId() == b.GetId() && !aborted {
			aborted = true
			return &pgconn.PgError{Code: "40P01"}
		}
		return nil
	}
	for _, partial := range []bool{false, true} {
		aborted = false
		stored, failure, err := f.pay.UpdateMany(f.ctx, []*timekeepingv1.PayCode{{Id: a.Id, Name: "A2"}, {Id: b.Id, Name: "B2"}}, partial)
		require.NoError(t, err)
		assert.Nil(t, failure)
		assert.Len(t, stored, 2)
		assert.True(t, aborted)
	}
}
