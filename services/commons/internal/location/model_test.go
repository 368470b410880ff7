package location_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/location"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
)

// span is the number of days that the model knows.
const span = 10

func modelDay(d int) civil.Date { return civil.Of(2026, 1, 1).AddDays(d) }

// state is the model's state of a location on a day.
type state struct {
	there  bool
	parent int64 // 0 at the top
	name   string
}

// model is a tree that is written down for each day.
type model map[int64][span]state

func (m model) clone() model {
	out := model{}
	for id, days := range m {
		out[id] = days
	}
	return out
}

// path returns the path of a location on a day, and the ids on the way. It is not ok if no way
// leads to the top.
func (m model) path(id int64, d int) (path string, line []int64, ok bool) {
	for at := id; at != 0; at = m[at][d].parent {
		if !m[at][d].there || len(line) == 12 {
			return "", nil, false
		}
		line = append(line, at)
		path = "/" + m[at][d].name + path
	}
	return path[1:], line, true
}

// valid reports whether every day is a tree without two of the same path.
func (m model) valid() bool {
	for d := range span {
		taken := map[string]bool{}
		for id := range m {
			if !m[id][d].there {
				continue
			}
			path, _, ok := m.path(id, d)
			if !ok || taken[path] {
				return false
			}
			taken[path] = true
		}
	}
	return true
}

// holder returns the location that has a path on a day, or 0.
func (m model) holder(path string, day int) int64 {
	for id := range m {
		if m[id][day].there {
			if p, _, _ := m.path(id, day); p == path {
				return id
			}
		}
	}
	return 0
}

// workplaces are the paths of the primary jobs of persons, for each day; "" for none.
type workplaces [3][span]string

// follow returns the paths after the tree has changed from m to next. The path of a location follows
// the location; another text stays.
func (w workplaces) follow(m, next model) workplaces {
	for person := range w {
		for d, path := range w[person] {
			if id := m.holder(path, d); path != "" && id != 0 {
				w[person][d], _, _ = next.path(id, d)
			}
		}
	}
	return w
}

// hold reports whether a person works at a location on a day or later.
func (w workplaces) hold(m model, id int64, from int) bool {
	for person := range w {
		for d := from; d < span; d++ {
			if path := w[person][d]; path != "" && m.holder(path, d) == id {
				return true
			}
		}
	}
	return false
}

// namedLocation returns who has a path on a day, or had it last before.
func (m model) namedLocation(path string, day int) int64 {
	for d := day; d >= 0; d-- {
		if id := m.holder(path, d); id != 0 {
			return id
		}
	}
	return 0
}

// formerAfter returns the paths that name a location although none has them, after the tree has
// changed from m to next on the days from a day on.
func (m model) formerAfter(former map[string]int64, next model, from int) map[string]int64 {
	out := maps.Clone(former)
	maps.DeleteFunc(out, func(_ string, id int64) bool { return next[id] == [span]state{} })
	for d := range span {
		for id := range m {
			path, _, there := m.path(id, d)
			if now, _, still := next.path(id, d); there && still && now != path && m.namedLocation(path, from-1) == 0 {
				out[path] = id
			}
		}
	}
	return out
}

// run is a model beside the real thing.
type run struct {
	*rapid.T
	fixture
	ctx   context.Context
	model model
	work  workplaces
	// former has locations by the paths that a change took from them on all days.
	former map[string]int64
	paths  map[string]bool
}

func (r *run) ids() []int64 {
	out := []int64{0}
	for id := range r.model {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// apply compares the outcome of a change with that in the model.
func (r *run) apply(from int, next model, mayChange bool, change func() error) {
	err := change()
	want := mayChange && next.valid()
	if (err == nil) != want {
		r.Fatalf("must succeed: %v, but the outcome is %v", want, err)
	}
	if err == nil {
		r.model, r.work, r.former = next, r.work.follow(r.model, next), r.model.formerAfter(r.former, next, from)
	}
}

// employ gives a person one primary job, at a path that exists on the first day or at any other.
func (r *run) employ(from, to int) {
	person := rapid.IntRange(0, len(r.work)-1).Draw(r.T, "person")
	paths := []string{"a", "b/a", "elsewhere"}
	for _, id := range r.ids() {
		if id != 0 && r.model[id][from].there {
			path, _, _ := r.model.path(id, from)
			paths = append(paths, path)
		}
	}
	path := rapid.SampledFrom(paths).Draw(r.T, "path")
	r.work[person] = [span]string{}
	for d := from; d < to; d++ {
		r.work[person][d] = path
	}
	for _, sql := range []string{
		`DELETE FROM primary_labor_account WHERE tenant_id = $1 AND person_id = $2 AND $3::date IS NOT NULL AND $4::date IS NOT NULL AND $5::text IS NOT NULL`,
		`INSERT INTO primary_labor_account (tenant_id, person_id, from_date, to_date, organization_path, labor_category_name) VALUES ($1, $2, $3, $4, $5, '')`,
	} {
		_, err := r.pool.Exec(r.ctx, sql, structureTenant(r.ctx), person, modelDay(from).Time(), modelDay(to).Time(), path)
		require.NoError(r, err)
	}
}

// compareWork compares the primary jobs of every day.
func (r *run) compareWork() {
	rows, err := r.pool.Query(r.ctx, `SELECT person_id, from_date - '2026-01-01'::date, to_date - '2026-01-01'::date, organization_path
		FROM primary_labor_account WHERE tenant_id = $1`, structureTenant(r.ctx))
	require.NoError(r, err)
	var got workplaces
	for rows.Next() {
		var person, from, to int
		var path string
		require.NoError(r, rows.Scan(&person, &from, &to, &path))
		for d := from; d < to; d++ {
			got[person][d] = path
		}
	}
	require.NoError(r, rows.Err())
	require.Equal(r, r.work, got)
}

func (r *run) step() {
	ids := r.ids()
	id := rapid.SampledFrom(ids).Draw(r.T, "location")
	parent := rapid.SampledFrom(ids).Draw(r.T, "parent")
	name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r.T, "name")
	from := rapid.IntRange(0, span-1).Draw(r.T, "from")
	to := rapid.IntRange(from+1, span).Draw(r.T, "to")
	kind := rapid.IntRange(0, 6).Draw(r.T, "kind")
	if kind == 6 {
		r.employ(from, to)
		return
	}
	dates := func(l *commonsv1.Location) *commonsv1.Location {
		l.EffectiveDate, l.ExpirationDate = modelDay(from).String(), modelDay(to).String()
		if to == span {
			l.ExpirationDate = ""
		}
		return l
	}
	next := r.model.clone()
	set := func(id int64, change func(*state)) {
		days := next[id]
		for d := from; d < to; d++ {
			if days[d].there {
				change(&days[d])
			}
		}
		next[id] = days
	}
	var ref *commonv1.Ref
	if parent != 0 {
		ref = &commonv1.Ref{Id: &parent}
	}
	switch {
	case id == 0 || kind == 0:
		var days [span]state
		for d := from; d < to; d++ {
			days[d] = state{true, parent, name}
		}
		made, err := r.CreateLocation(r.ctx, dates(&commonsv1.Location{Name: &name, ParentNodeRef: ref}))
		// A location that was not created still has a number for the comparison.
		number := int64(-1)
		for _, l := range made.GetLocations() {
			number = l.GetNodeId()
		}
		next[number] = days
		r.apply(from, next, true, func() error { return err })
	case kind == 1:
		set(id, func(s *state) { s.name = name })
		r.apply(from, next, r.model[id][from].there, func() error {
			_, err := r.MultiUpdateLocations(r.ctx, &commonsv1.WriteLocationsRequest{Body: &commonsv1.LocationList{
				Locations: []*commonsv1.Location{dates(&commonsv1.Location{NodeId: &id, Name: proto.String(name)})},
			}})
			return err
		})
	case kind == 2:
		days := next[id]
		for d := from; d < span; d++ {
			days[d] = state{}
		}
		if next[id] = days; days == [span]state{} {
			delete(next, id)
		}
		r.apply(from, next, !r.work.hold(r.model, id, from), func() error {
			_, err := r.MultiDeleteLocations(r.ctx, &commonsv1.MultiDeleteLocationsRequest{Where: &commonsv1.LocationDeletion{
				Nodes: &commonv1.RefList{Ids: []int64{id}}, ForDate: modelDay(from).String(),
			}})
			return err
		})
	default:
		set(id, func(s *state) { s.parent = parent })
		r.apply(from, next, r.model[id][from].there, func() error {
			do := &commonsv1.LocationDestination{DestinationRef: ref, StartDate: modelDay(from).String()}
			if to < span {
				do.EndDate = modelDay(to - 1).String()
			}
			_, err := r.MoveLocations(r.ctx, moveTo(id, do))
			return err
		})
	}
}

// compare compares every place of every day, and who has which path.
func (r *run) compare() {
	rows, err := r.pool.Query(r.ctx, `SELECT location_id, from_date - '2026-01-01'::date, least(to_date - '2026-01-01'::date, $2), depth, lineage, path
		FROM location_path WHERE tenant_id = $1`, structureTenant(r.ctx), span)
	require.NoError(r, err)
	got := map[string]string{}
	for rows.Next() {
		var id int64
		var from, to, depth int
		var lineage, path string
		require.NoError(r, rows.Scan(&id, &from, &to, &depth, &lineage, &path))
		for d := from; d < to; d++ {
			got[fmt.Sprintf("%d on %d", id, d)] = fmt.Sprint(depth, " ", lineage, " ", path)
		}
	}
	require.NoError(r, rows.Err())
	want := map[string]string{}
	for id, days := range r.model {
		for d, s := range days {
			if !s.there {
				continue
			}
			path, line, _ := r.model.path(id, d)
			lineage := "."
			for _, at := range slices.Backward(line) {
				lineage += fmt.Sprint(at, ".")
			}
			want[fmt.Sprintf("%d on %d", id, d)] = fmt.Sprint(len(line), " ", lineage, " ", path)
			r.paths[path] = true
		}
	}
	require.Equal(r, want, got)
	day := rapid.IntRange(0, span-1).Draw(r.T, "day")
	for path := range r.former {
		r.paths[path] = true
	}
	for path := range r.paths {
		var id *int64
		require.NoError(r, r.pool.QueryRow(r.ctx, `SELECT `+locationpath.AtSQL("$1", "$2", "$3"), structureTenant(r.ctx), path, modelDay(day).Time()).Scan(&id))
		found := int64(0)
		if id != nil {
			found = *id
		}
		require.Equal(r, cmp.Or(r.model.namedLocation(path, day), r.former[path]), found, "who has %s on day %d", path, day)
	}
	r.compareNames(day)
}

// compareNames compares what names a location or what lies below it on a day.
func (r *run) compareNames(day int) {
	top := rapid.SampledFrom(r.ids()).Draw(r.T, "top")
	names := location.PathsBelow(r, r.pool, structureTenant(r.ctx), top, modelDay(day))
	want := []string{}
	for path := range r.paths {
		id := r.model.namedLocation(path, day)
		if id == 0 || !r.model[id][day].there {
			continue
		}
		if _, line, _ := r.model.path(id, day); slices.Contains(line, top) {
			want = append(want, path)
		}
	}
	require.ElementsMatch(r, want, names, "below %d on day %d", top, day)
}

func structureTenant(ctx context.Context) int64 {
	id, _ := tenant.From(ctx)
	return id
}

func TestTheTreeComparedWithAModel(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	tenants := int64(1000)
	rapid.Check(t, func(t *rapid.T) {
		tenants++
		r := &run{T: t, fixture: b, ctx: tenant.With(context.Background(), tenants), model: model{}, former: map[string]int64{}, paths: map[string]bool{}}
		for person := range r.work {
			_, err := b.pool.Exec(r.ctx, `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body) VALUES ($1, $2::bigint, $2::bigint::text, '', 'UTC', '')`, tenants, person)
			require.NoError(t, err)
		}
		for range rapid.IntRange(10, 40).Draw(t, "steps") {
			r.step()
		}
		r.compare()
		r.compareWork()
	})
}
