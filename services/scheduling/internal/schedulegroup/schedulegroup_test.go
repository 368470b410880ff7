package schedulegroup_test

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulegroup"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// persons has the schedule groups of simulated persons.
type persons struct {
	groups []string
	// down makes commons fail, and slow makes each call rename one person only.
	down, slow bool
}

func (p *persons) RenamePersonReferences(_ context.Context, req *commonsv1.RenamePersonReferencesRequest, _ ...grpc.CallOption) (*commonsv1.RenamePersonReferencesResponse, error) {
	if p.down {
		return nil, errors.New("commons is away")
	}
	for i, group := range p.groups {
		if group != req.GetTo() && strings.EqualFold(group, req.GetFrom()) {
			p.groups[i] = req.GetTo()
			if p.slow {
				return &commonsv1.RenamePersonReferencesResponse{Incomplete: true}, nil
			}
		}
	}
	return &commonsv1.RenamePersonReferencesResponse{}, nil
}

func (p *persons) FindPersonReferences(_ context.Context, req *commonsv1.FindPersonReferencesRequest, _ ...grpc.CallOption) (*commonsv1.FindPersonReferencesResponse, error) {
	out := &commonsv1.FindPersonReferencesResponse{}
	for _, group := range p.groups {
		if slices.ContainsFunc(req.GetNames(), func(name string) bool { return strings.EqualFold(name, group) }) {
			out.PersonNumbers, out.Persons = append(out.PersonNumbers, "P of "+group), out.GetPersons()+1
		}
	}
	return out, nil
}

// fixture has the groups A to E. A has the persistent id "first", and B has "second".
type fixture struct {
	*schedtest.Env
	persons *persons
	handler *schedulegroup.Handler
	client  schedulingv1.ScheduleGroupServiceClient
	ids     map[string]int64
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	env := schedtest.New(t)
	w := &fixture{Env: env, persons: &persons{}, client: schedulingv1.NewScheduleGroupServiceClient(env.Conn()), ids: map[string]int64{}}
	w.handler = schedulegroup.New(env.Pool, w.persons, pgtest.Log(t))
	schedulingv1.RegisterScheduleGroupServiceServer(env.Local, w.handler)
	for _, g := range []*schedulingv1.ScheduleGroup{{Name: "C"}, {Name: "B", PersistentId: "second"}, {Name: "A", PersistentId: "first"}, {Name: "E"}, {Name: "D"}} {
		made, err := w.client.CreateScheduleGroup(w.Ctx, g)
		require.NoError(t, err)
		w.ids[g.GetName()] = made.GetId()
	}
	return w
}

// requireGroups fails unless an error has a code, or, without one, groups have the names.
func requireGroups(t *testing.T, want, code string, list *schedulingv1.ScheduleGroupList, err error) {
	t.Helper()
	if code != "" {
		require.Error(t, err)
		assert.Equal(t, code, fault.FromError(err).Code, "%v", err)
		return
	}
	require.NoError(t, err)
	var names []string
	for _, g := range list.GetItems() {
		names = append(names, g.GetName())
	}
	assert.Equal(t, want, strings.Join(names, " "))
}

func TestPagesOfScheduleGroups(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	type request = schedulingv1.ListScheduleGroupsRequest
	for _, c := range []struct {
		name string
		req  *request
		want string
		code string
	}{
		{"all", &request{}, "A B C D E", ""},
		{"the first two", &request{Count: proto.Int32(2)}, "A B", ""},
		{"the next two", &request{Index: proto.Int32(2), Count: proto.Int32(2)}, "C D", ""},
		{"the last one", &request{Index: proto.Int32(4), Count: proto.Int32(2)}, "E", ""},
		{"all from one on", &request{Index: proto.Int32(3)}, "D E", ""},
		{"beyond the last one", &request{Index: proto.Int32(9), Count: proto.Int32(2)}, "", ""},
		{"as many as there may be", &request{Count: proto.Int32(10_000)}, "A B C D E", ""},
		{"more", &request{Count: proto.Int32(10_001)}, "", schedulegroup.CodeInvalid},
		{"none", &request{Count: proto.Int32(0)}, "", schedulegroup.CodeInvalid},
		{"before the first one", &request{Index: proto.Int32(-1)}, "", schedulegroup.CodeInvalid},
		{"one by name", &request{Qualifier: proto.String("b")}, "B", ""},
		{"one by id", &request{Id: proto.Int64(w.ids["D"])}, "D", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			list, err := w.client.ListScheduleGroups(w.Ctx, c.req)
			requireGroups(t, c.want, c.code, list, err)
		})
	}
	t.Run("without details", func(t *testing.T) {
		t.Parallel()
		list, err := w.client.ListScheduleGroups(w.Ctx, &request{Count: proto.Int32(1), AllDetails: proto.Bool(false)})
		require.NoError(t, err)
		want := &schedulingv1.ScheduleGroup{Id: proto.Int64(w.ids["A"]), Name: "A"}
		require.Len(t, list.GetItems(), 1)
		assert.True(t, proto.Equal(want, list.GetItems()[0]), "%v", list)
	})
}

// Groups are renamed, deleted and created after the first page.
func TestPagesByCursorHaveEachScheduleGroupOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var seen []string
	after := ""
	for page := 0; page == 0 || after != ""; page++ {
		var header metadata.MD
		list, err := w.client.ListScheduleGroups(w.Ctx, &schedulingv1.ListScheduleGroupsRequest{After: &after, Count: proto.Int32(2)}, grpc.Header(&header))
		require.NoError(t, err)
		for _, g := range list.GetItems() {
			seen = append(seen, g.GetName())
		}
		if after = nextPage(t, header); page > 0 {
			continue
		}
		_, err = w.client.DeleteScheduleGroup(w.Ctx, &schedulingv1.DeleteScheduleGroupRequest{Id: w.ids["C"]})
		require.NoError(t, err)
		_, err = w.client.UpdateScheduleGroup(w.Ctx, &schedulingv1.UpdateScheduleGroupRequest{Id: w.ids["D"], Body: &schedulingv1.ScheduleGroup{Name: "0"}})
		require.NoError(t, err)
		_, err = w.client.CreateScheduleGroup(w.Ctx, &schedulingv1.ScheduleGroup{Name: "00"})
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"C", "B", "A", "E", "0", "00"}, seen)
}

// nextPage returns the cursor of the next page, or "".
func nextPage(t *testing.T, header metadata.MD) string {
	t.Helper()
	for _, value := range header.Get(rpc.HeaderPage) {
		if text, ok := strings.CutPrefix(value, "next "); ok {
			query, err := url.ParseQuery(text)
			require.NoError(t, err)
			return query.Get("after")
		}
	}
	return ""
}

func TestScheduleGroupsAreFound(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	type refs = schedulingv1.ScheduleGroupRefs
	for _, c := range []struct {
		name string
		refs *refs
		want string
		code string
	}{
		{"all", nil, "A B C D E", ""},
		{"by ids, as they are asked for", &refs{Ids: []int64{w.ids["D"], w.ids["A"]}}, "D A", ""},
		{"by names in another case", &refs{Qualifiers: []string{"e", "a"}}, "E A", ""},
		{"by references", &refs{Refs: []*commonv1.Ref{{Qualifier: proto.String("C")}, {Id: proto.Int64(w.ids["B"])}}}, "C B", ""},
		{"by persistent ids", &refs{PersistentIds: []string{"second", "first", "second"}}, "B A B", ""},
		{"by a persistent id in another case", &refs{PersistentIds: []string{"First"}}, "", schedulegroup.CodeUnknown},
		{"by an empty persistent id", &refs{PersistentIds: []string{"first", ""}}, "", schedulegroup.CodeUnknown},
		{"by an unknown id", &refs{Ids: []int64{w.ids["A"], 999}}, "", schedulegroup.CodeUnknown},
		{"by an unknown name", &refs{Qualifiers: []string{"F"}}, "", schedulegroup.CodeUnknown},
		{"by two lists", &refs{Qualifiers: []string{"A"}, PersistentIds: []string{"first"}}, "", schedulegroup.CodeSeveral},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			list, err := w.client.MultiReadScheduleGroups(w.Ctx, &schedulingv1.MultiReadScheduleGroupsRequest{
				Where: &schedulingv1.ScheduleGroupWhere{ScheduleGroups: c.refs},
			})
			requireGroups(t, c.want, c.code, list, err)
		})
	}
}

func TestScheduleGroupProperties(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 250)
	for _, c := range []struct {
		name string
		id   string // the group that it replaces, or ""
		sent *schedulingv1.ScheduleGroup
		code string
	}{
		{"a name alone", "", &schedulingv1.ScheduleGroup{Name: "F"}, ""},
		{"no name", "", &schedulingv1.ScheduleGroup{Name: " "}, schedulegroup.CodeMissing},
		{"a name that is taken", "", &schedulingv1.ScheduleGroup{Name: "a"}, schedulegroup.CodeTaken},
		{"its own name", "A", &schedulingv1.ScheduleGroup{Name: "a"}, ""},
		{"a description that is too long", "", &schedulingv1.ScheduleGroup{Name: "F", Description: strings.Repeat("ä", 1001)}, schedulegroup.CodeInvalid},
		{"the longest persistent id", "", &schedulingv1.ScheduleGroup{Name: "F", PersistentId: long}, ""},
		{"a longer one", "", &schedulingv1.ScheduleGroup{Name: "F", PersistentId: long + "x"}, schedulegroup.CodeInvalid},
		{"a persistent id that is taken", "", &schedulingv1.ScheduleGroup{Name: "F", PersistentId: "first"}, schedulegroup.CodeTaken},
		{"its own persistent id", "A", &schedulingv1.ScheduleGroup{Name: "A", PersistentId: "first"}, ""},
		{"the persistent id of another", "B", &schedulingv1.ScheduleGroup{Name: "B", PersistentId: "first"}, schedulegroup.CodeTaken},
		{"another id", "A", &schedulingv1.ScheduleGroup{Id: proto.Int64(999), Name: "A"}, schedulegroup.CodeOtherID},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			var out *schedulingv1.ScheduleGroup
			var err error
			if c.id == "" {
				out, err = w.client.CreateScheduleGroup(w.Ctx, c.sent)
			} else {
				out, err = w.client.UpdateScheduleGroup(w.Ctx, &schedulingv1.UpdateScheduleGroupRequest{Id: w.ids[c.id], Body: c.sent})
			}
			if c.code != "" {
				require.Error(t, err)
				assert.Equal(t, c.code, fault.FromError(err).Code, "%v", err)
				return
			}
			require.NoError(t, err)
			assert.True(t, out.GetActive() && out.Inheritance != nil && !out.GetInheritance(), "%v", out)
			assert.Equal(t, c.sent.GetPersistentId(), out.GetPersistentId())
		})
	}
}
