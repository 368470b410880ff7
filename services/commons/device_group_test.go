package commons_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	"github.com/rotaloom/rotaloom/pkg/testkit/rpctest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	udmv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/udm/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/devicegroup"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
)

// receivesGroup has the service receive an event of a device group.
func (b *fixture) receivesGroup(ctx context.Context, changed ...*udmv1.DeviceGroupChanged) error {
	return pg.InTx(ctx, b.pool, func(ctx context.Context, tx pgx.Tx) error {
		return replica.Put(ctx, tx, devicegroup.NewCopy(b.pool), changed)
	})
}

// inGroup puts a person into a device group.
func inGroup(name string) func(*commonsv1.Person) {
	return func(p *commonsv1.Person) {
		p.JobAssignment = &commonsv1.JobAssignment{JobAssignmentDetails: &commonsv1.JobAssignmentDetails{DeviceGroupName: name}}
	}
}

// membersClient returns a client of DeviceGroupMemberService.
func (b *fixture) membersClient(t *testing.T) commonsv1.DeviceGroupMemberServiceClient {
	t.Helper()
	local := rpctest.Local(t)
	b.service.Register(local)
	return commonsv1.NewDeviceGroupMemberServiceClient(local.Conn("test", nil))
}

func (b *fixture) groupOf(t *testing.T, ctx context.Context, id int64) string {
	t.Helper()
	p, err := b.persons.GetPerson(ctx, &commonsv1.GetPersonRequest{PersonId: id})
	require.NoError(t, err)
	return p.GetJobAssignment().GetJobAssignmentDetails().GetDeviceGroupName()
}

func TestPersonsFollowTheNamesOfDeviceGroups(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	require.NoError(t, b.receivesGroup(ctx, &udmv1.DeviceGroupChanged{Id: 1, Name: "A", Version: 1}, &udmv1.DeviceGroupChanged{Id: 2, Name: "B", Version: 1}))
	var ids []int64
	for i, name := range []string{"a", "B"} {
		made, err := b.persons.CreatePerson(ctx, plain(fmt.Sprint("p", i), inGroup(name)))
		require.NoError(t, err)
		ids = append(ids, made.GetPersonIdentity().GetPersonKey())
	}
	assert.Equal(t, "A", b.groupOf(t, ctx, ids[0]), "as the group has it")
	_, err := b.persons.CreatePerson(ctx, plain("other", inGroup("C")))
	faulttest.RequireCode(t, rules.CodeBadValue, err)

	before := len(b.events(t))
	// B gets the former name of A before the new name of A is known.
	require.NoError(t, b.receivesGroup(ctx, &udmv1.DeviceGroupChanged{Id: 2, Name: "A", Version: 2}))
	require.NoError(t, b.receivesGroup(ctx, &udmv1.DeviceGroupChanged{Id: 1, Name: "C", Version: 2}))
	assert.Equal(t, []string{"C", "A"}, []string{b.groupOf(t, ctx, ids[0]), b.groupOf(t, ctx, ids[1])})
	events := b.events(t)[before:]
	require.Len(t, events, 2)
	assert.Equal(t, ids[1], events[0].GetPersons()[0].GetPersonId())
	assert.Equal(t, int64(2), events[0].GetPersons()[0].GetVersion())

	// A deleted group takes no more persons. Its persons keep the name, and can be changed.
	require.NoError(t, b.receivesGroup(ctx, &udmv1.DeviceGroupChanged{Id: 2, Version: 3, Deleted: true}))
	_, err = b.persons.CreatePerson(ctx, plain("late", inGroup("A")))
	faulttest.RequireCode(t, rules.CodeBadValue, err)
	_, err = b.persons.UpdatePerson(ctx, &commonsv1.UpdatePersonRequest{PersonId: ids[1], Person: &commonsv1.Person{PersonInformation: custom("a", "b")}})
	require.NoError(t, err)
	assert.Equal(t, "A", b.groupOf(t, ctx, ids[1]))
}

// A person who was stored with a name before device groups were checked belongs to the group that gets
// this name.
func TestDeviceGroupsAdoptPersonsOfTheirName(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	made, err := b.persons.CreatePerson(ctx, plain("old"))
	require.NoError(t, err)
	id := made.GetPersonIdentity().GetPersonKey()
	_, err = b.pool.Exec(ctx, `UPDATE person SET device_group_name = 'A' WHERE tenant_id = 1`)
	require.NoError(t, err)
	require.NoError(t, b.receivesGroup(ctx, &udmv1.DeviceGroupChanged{Id: 1, Name: "A", Version: 1}))
	used, err := b.membersClient(t).FindDeviceGroupUse(ctx, &commonsv1.FindDeviceGroupUseRequest{DeviceGroupId: 1})
	require.NoError(t, err)
	assert.Equal(t, "old", used.GetPersonNumber())
	require.NoError(t, b.receivesGroup(ctx, &udmv1.DeviceGroupChanged{Id: 1, Name: "B", Version: 2}))
	assert.Equal(t, "B", b.groupOf(t, ctx, id))
}

// Persons who join a group while it is renamed have its new name.
func TestJoiningAndRenamingTakeTurns(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	require.NoError(t, b.receivesGroup(ctx, &udmv1.DeviceGroupChanged{Id: 1, Name: "name", Version: 1}))
	var group errgroup.Group
	ids := make([]int64, 20)
	for i := range ids {
		group.Go(func() error {
			// The case of a name is free, and changes with each version.
			for {
				made, err := b.persons.CreatePerson(ctx, plain(fmt.Sprint("p", i), inGroup("NAME")))
				if !fault.HasCode(err, "WCO-101513") { // So many at once that one waited too long for a lock.
					ids[i] = made.GetPersonIdentity().GetPersonKey()
					return err
				}
			}
		})
	}
	group.Go(func() error {
		for i, name := range []string{"Name", "nAme", "naMe", "namE"} {
			if err := b.receivesGroup(ctx, &udmv1.DeviceGroupChanged{Id: 1, Name: name, Version: int64(i + 2)}); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, group.Wait())
	for _, id := range ids {
		assert.Equal(t, "namE", b.groupOf(t, ctx, id))
	}
}

func TestMembersOfDeviceGroups(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	require.NoError(t, b.receivesGroup(ctx, &udmv1.DeviceGroupChanged{Id: 1, Name: "A", Version: 1}, &udmv1.DeviceGroupChanged{Id: 2, Name: "B", Version: 1}))
	create := func(number, group, badge, status string) int64 {
		made, err := b.persons.CreatePerson(ctx, plain(number, inGroup(group), func(p *commonsv1.Person) {
			p.PersonInformation.Person.HireDate = "2021-05-03"
			p.PersonInformation.BadgeAssignments = []*commonsv1.BadgeAssignment{{BadgeNumber: badge, EffectiveDate: "2026-02-01", ExpirationDate: "2026-04-01"}}
			p.PersonInformation.EmploymentStatusList = []*commonsv1.EmploymentStatus{{EmploymentStatusName: "Active", EffectiveDate: "2021-05-03"}, {EmploymentStatusName: status, EffectiveDate: "2026-02-15"}}
		}))
		require.NoError(t, err)
		return made.GetPersonIdentity().GetPersonKey()
	}
	one, two := create("one", "A", "11", "Active"), create("two", "A", "22", "Inactive")
	left, elsewhere := create("left", "A", "33", "Terminated"), create("elsewhere", "B", "44", "Active")
	client := b.membersClient(t)
	list := func(after int64, limit int32, day string) (ids []int64, badges []string) {
		page, err := client.ListDeviceGroupMembers(ctx, &commonsv1.ListDeviceGroupMembersRequest{DeviceGroupId: 1, AfterPersonId: after, Limit: limit, Day: day})
		require.NoError(t, err)
		for _, m := range page.GetMembers() {
			ids = append(ids, m.GetPersonId())
			for _, badge := range m.GetBadges() {
				badges = append(badges, badge.GetBadgeNumber()+" "+badge.GetFrom()+" "+badge.GetTo())
			}
		}
		return ids, badges
	}
	ids, badges := list(0, 10, "2026-03-01")
	assert.Equal(t, []int64{one, two}, ids, "without the terminated one")
	assert.Equal(t, []string{"11 2026-02-01 2026-04-01", "22 2026-02-01 2026-04-01"}, badges)
	ids, _ = list(0, 1, "2026-03-01")
	assert.Equal(t, []int64{one}, ids)
	ids, _ = list(one, 10, "2026-02-14")
	assert.Equal(t, []int64{two, left}, ids)
	_, badges = list(0, 10, "2026-04-01")
	assert.Empty(t, badges, "badges that have ended")

	found, err := client.FindDeviceGroupMembers(ctx, &commonsv1.FindDeviceGroupMembersRequest{DeviceGroupId: 1, Keys: []*commonsv1.MemberKey{
		{BadgeNumber: "11", Day: "2026-02-01"},
		{BadgeNumber: "11", Day: "2026-04-01"},
		{PersonNumber: "two"},
		{BadgeNumber: "44", Day: "2026-03-01"},
		{PersonNumber: "elsewhere"},
		{PersonNumber: "nobody"},
		{BadgeNumber: "33", Day: "2026-02-14"},
		{BadgeNumber: "33", Day: "2026-02-15"},
	}})
	require.NoError(t, err)
	assert.Equal(t, []int64{one, 0, two, 0, 0, 0, left, 0}, found.GetPersonIds(), "a termination ends a badge")
	found, err = client.FindDeviceGroupMembers(inTenant(t, 2), &commonsv1.FindDeviceGroupMembersRequest{DeviceGroupId: 1, Keys: []*commonsv1.MemberKey{{PersonNumber: "one"}}})
	require.NoError(t, err)
	assert.Equal(t, []int64{0}, found.GetPersonIds(), "another tenant")

	// Persons who left the group and deleted persons are not members.
	_, err = b.persons.UpdatePerson(ctx, &commonsv1.UpdatePersonRequest{PersonId: elsewhere, Person: plain("elsewhere", inGroup("A"))})
	require.NoError(t, err)
	ids, _ = list(left, 10, "2026-03-01")
	assert.Equal(t, []int64{elsewhere}, ids)
	used, err := client.FindDeviceGroupUse(ctx, &commonsv1.FindDeviceGroupUseRequest{DeviceGroupId: 2})
	require.NoError(t, err)
	assert.Empty(t, used.GetPersonNumber())
}
