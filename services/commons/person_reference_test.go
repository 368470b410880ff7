package commons_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/testkit/rpctest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// referenceClients returns clients of PersonReferenceService and WageWorkRuleService.
func (b *fixture) referenceClients(t *testing.T) (commonsv1.PersonReferenceServiceClient, commonsv1.WageWorkRuleServiceClient) {
	t.Helper()
	local := rpctest.Local(t)
	b.service.Register(local)
	return commonsv1.NewPersonReferenceServiceClient(local.Conn("test", nil)), commonsv1.NewWageWorkRuleServiceClient(local.Conn("test", nil))
}

// withPay gives a person a pay rule and an accrual profile.
func withPay(rule, profile string) func(*commonsv1.Person) {
	return func(p *commonsv1.Person) {
		details := p.GetPersonInformation().GetPerson()
		details.HireDate, details.AccrualProfileName = "2021-05-03", profile
		p.JobAssignment = &commonsv1.JobAssignment{JobAssignmentDetails: &commonsv1.JobAssignmentDetails{PayRuleName: rule}}
	}
}

// A new name of a pay rule, a work rule or an accrual profile is written to all persons of the tenant who
// have it in any case and on any day, and to no others.
func TestPersonsFollowTheNamesOfTheirReferences(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	references, wages := b.referenceClients(t)
	ids := map[string]int64{}
	ref := func(name string) *commonv1.Ref { return &commonv1.Ref{Qualifier: &name} }
	create := func(ctx context.Context, number, rule, profile string) {
		made, err := b.persons.CreatePerson(ctx, plain(number, withPay(rule, profile)))
		require.NoError(t, err)
		ids[number] = made.GetPersonIdentity().GetPersonKey()
	}
	create(ctx, "one", "Rule", "Staff")
	create(ctx, "two", "RULE", "staff")
	create(ctx, "three", "Rules", "Staffs")
	create(ctx, "old", "Rules", "Staff")
	create(inTenant(t, 2), "elsewhere", "Rule", "Staff")
	_, err := wages.MultiUpsertWageWorkRules(ctx, &commonsv1.PersonWageWorkRulesList{Persons: []*commonsv1.PersonWageWorkRules{{
		Employee: &commonv1.Ref{Id: proto.Int64(ids["three"])},
		EffectiveDatedWageWorkRules: []*commonsv1.EffectiveDatedWageWorkRules{{
			EffectiveDate: "2026-01-01", ExpirationDate: "3000-01-01",
			WageWorkRules: []*commonsv1.WageWorkRuleOverride{{Job: ref("A/Job"), WorkRule: ref("Nights")}},
		}},
	}}})
	require.NoError(t, err)
	// A program of the release before stored the accrual profile in the body only.
	_, err = b.pool.Exec(ctx, `DELETE FROM accrual_profile_assignment WHERE tenant_id = 1 AND person_id = $1`, ids["old"])
	require.NoError(t, err)

	use := func(kind commonsv1.PersonReference, names ...string) ([]string, int64) {
		found, err := references.FindPersonReferences(ctx, &commonsv1.FindPersonReferencesRequest{Kind: kind, Names: names})
		require.NoError(t, err)
		return found.GetPersonNumbers(), found.GetPersons()
	}
	const rule, work, profile = commonsv1.PersonReference_PERSON_REFERENCE_PAY_RULE, commonsv1.PersonReference_PERSON_REFERENCE_WORK_RULE, commonsv1.PersonReference_PERSON_REFERENCE_ACCRUAL_PROFILE
	numbers, n := use(rule, "Rule", "rules")
	assert.Equal(t, []string{"one", "two", "three"}, numbers, "the first ones")
	assert.Equal(t, int64(4), n)
	numbers, _ = use(profile, "Staff")
	assert.Equal(t, []string{"one", "two", "old"}, numbers)
	numbers, _ = use(work, "nights")
	assert.Equal(t, []string{"three"}, numbers)
	numbers, _ = use(work, "Rule")
	assert.Empty(t, numbers)

	before := len(b.events(t))
	for kind, from := range map[commonsv1.PersonReference]string{rule: "rule", profile: "Staff", work: "Nights"} {
		renamed, err := references.RenamePersonReferences(ctx, &commonsv1.RenamePersonReferencesRequest{Kind: kind, From: from, To: "New"})
		require.NoError(t, err)
		assert.False(t, renamed.GetIncomplete())
	}
	shown := func(ctx context.Context, number string) []string {
		p, err := b.persons.GetPerson(ctx, &commonsv1.GetPersonRequest{PersonId: ids[number]})
		require.NoError(t, err)
		return []string{p.GetJobAssignment().GetJobAssignmentDetails().GetPayRuleName(), p.GetPersonInformation().GetPerson().GetAccrualProfileName()}
	}
	assert.Equal(t, []string{"New", "New"}, shown(ctx, "one"))
	assert.Equal(t, []string{"New", "New"}, shown(ctx, "two"))
	assert.Equal(t, []string{"Rules", "Staffs"}, shown(ctx, "three"))
	assert.Equal(t, []string{"Rules", "New"}, shown(ctx, "old"))
	assert.Equal(t, []string{"Rule", "Staff"}, shown(inTenant(t, 2), "elsewhere"))
	for kind, want := range map[commonsv1.PersonReference][]string{rule: {"one", "two"}, profile: {"one", "two", "old"}, work: {"three"}} {
		numbers, _ = use(kind, "new")
		assert.Equal(t, want, numbers, kind)
	}
	assert.Len(t, b.events(t)[before:], 3, "one event for the persons of each name")
}

// A new name of a schedule group is written to the persons of the tenant who have it in any case.
func TestPersonsFollowTheNamesOfScheduleGroups(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	references, _ := b.referenceClients(t)
	ids := map[string]int64{}
	create := func(ctx context.Context, number, group string) {
		made, err := b.persons.CreatePerson(ctx, plain(number, func(p *commonsv1.Person) { p.JobAssignment = &commonsv1.JobAssignment{ScheduleGroupName: group} }))
		require.NoError(t, err)
		ids[number] = made.GetPersonIdentity().GetPersonKey()
	}
	create(ctx, "one", "Ward")
	create(ctx, "two", "WARD")
	create(ctx, "three", "Wards")
	create(ctx, "none", "")
	create(inTenant(t, 2), "elsewhere", "Ward")
	const group = commonsv1.PersonReference_PERSON_REFERENCE_SCHEDULE_GROUP
	found, err := references.FindPersonReferences(ctx, &commonsv1.FindPersonReferencesRequest{Kind: group, Names: []string{"ward"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"one", "two"}, found.GetPersonNumbers())

	before := len(b.events(t))
	for _, again := range []string{"", "and once more"} {
		renamed, err := references.RenamePersonReferences(ctx, &commonsv1.RenamePersonReferencesRequest{Kind: group, From: "ward", To: "Ward 3"})
		require.NoError(t, err, again)
		assert.False(t, renamed.GetIncomplete())
	}
	for _, c := range []struct {
		tenant       int64
		number, want string
	}{{1, "one", "Ward 3"}, {1, "two", "Ward 3"}, {1, "three", "Wards"}, {1, "none", ""}, {2, "elsewhere", "Ward"}} {
		t.Run(c.number, func(t *testing.T) {
			p, err := b.persons.GetPerson(inTenant(t, c.tenant), &commonsv1.GetPersonRequest{PersonId: ids[c.number]})
			require.NoError(t, err)
			assert.Equal(t, c.want, p.GetJobAssignment().GetScheduleGroupName())
		})
	}
	assert.Len(t, b.events(t)[before:], 1, "one event for the persons")
}
