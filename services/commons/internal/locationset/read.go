package locationset

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/cursor"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// ListLocationSets returns all sets by name, with their locations if the request asks for all
// details.
func (h *Handler) ListLocationSets(ctx context.Context, req *commonsv1.ListLocationSetsRequest) (*commonsv1.LocationSetList, error) {
	// The product has no built-in sets.
	if req.GetSystem() {
		return &commonsv1.LocationSetList{}, nil
	}
	q := question{details: req.GetAllDetails(), tree: req.GetOnlyNodeRefsTree()}
	if req.GetName() != "" {
		q.some, q.names = true, []string{req.GetName()}
	}
	err := checkContext(req.GetContext())
	if err != nil {
		return nil, err
	}
	if q.day, err = structure.DayOr("date", req.GetDate(), h.today(ctx)); err != nil {
		return nil, err
	}
	list, _, err := h.response(ctx, q, page{count: maxSets})
	return &commonsv1.LocationSetList{LocationSets: list}, err
}

// GetLocationSet returns one set with its locations on a date.
func (h *Handler) GetLocationSet(ctx context.Context, req *commonsv1.GetLocationSetRequest) (*commonsv1.LocationSet, error) {
	if err := checkContext(req.GetContext()); err != nil {
		return nil, err
	}
	day, err := structure.DayOr("date", req.GetDate(), h.today(ctx))
	if err != nil {
		return nil, err
	}
	var set *commonsv1.LocationSet
	err = pg.InSnapshot(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		set, err = get(ctx, tx, req.GetId(), day)
		return err
	})
	if err != nil {
		return nil, err
	}
	if req.GetOnlyNodeRefsTree() {
		set.NodeRefsTree, set.NodeRefs = tree(set), nil
	}
	return set, rpc.SetVersion(ctx, set.GetVersionCount())
}

// MultiReadLocationSets returns sets by name.
func (h *Handler) MultiReadLocationSets(ctx context.Context, req *commonsv1.MultiReadLocationSetsRequest) (*commonsv1.LocationSetList, error) {
	if req.Index != nil || req.Count != nil || req.After != nil {
		return nil, fault.Invalid(fault.CodeUnknownProperty, "index, count and after belong to /v2/commons/location_sets/multi_read.")
	}
	q, err := h.read(req)
	if err != nil {
		return nil, err
	}
	list, total, err := h.response(ctx, q, page{count: maxSets})
	if err == nil && total > maxSets {
		err = structure.TooMany("location sets", total, maxSets)
	}
	return &commonsv1.LocationSetList{LocationSets: list}, err
}

// PageLocationSets returns one page of sets, and their total number.
func (h *Handler) PageLocationSets(ctx context.Context, req *commonsv1.MultiReadLocationSetsRequest) (*commonsv1.LocationSetPage, error) {
	q, err := h.read(req)
	if err != nil {
		return nil, err
	}
	p, err := readPage(req)
	if err != nil {
		return nil, err
	}
	list, total, err := h.response(ctx, q, p)
	next := ""
	if p.cursor != nil {
		list, next = cursor.Cut(p.cursor, list, p.count, (*commonsv1.LocationSet).GetId)
	}
	return &commonsv1.LocationSetPage{Records: &commonsv1.LocationSetRecords{LocationSets: list}, TotalElements: new(int32(total)), Next: next}, err
}

// page is a part of the selected sets.
type page struct {
	skip, count int
	// cursor is the page by cursor, or nil for a page by index.
	cursor *cursor.Query[int64]
}

func readPage(req *commonsv1.MultiReadLocationSetsRequest) (p page, err error) {
	p = page{skip: int(req.GetIndex()), count: maxSets}
	if req.Count != nil {
		p.count = int(req.GetCount())
	}
	if p.count < 1 || p.count > maxSets {
		return p, structure.Invalid("count", "must be from 1 to %d", maxSets)
	}
	if p.skip < 0 {
		return p, structure.Invalid("index", "must not be negative")
	}
	p.cursor, err = cursor.Read[int64](req, "index")
	return p, err
}

// after returns the id of the last set of the previous page, the order of the sets, and the number of sets to
// read: with a cursor one more than the page has, which shows whether another page follows.
func (p page) after() (id int64, order string, rows int) {
	if p.cursor == nil {
		return 0, "name, type_id, id", p.count
	}
	if p.cursor.After != nil {
		id = *p.cursor.After
	}
	return id, "id", p.count + 1
}

// question holds the filters and options of a read.
type question struct {
	day                 civil.Date
	ids                 []int64
	names, persistentID []string
	types               []int16
	begins              string
	details, jobs, tree bool
	// some reports whether ids, names or persistent ids are given.
	some bool
}

func (h *Handler) read(req *commonsv1.MultiReadLocationSetsRequest) (question, error) {
	where := req.GetWhere()
	q := question{
		details: where.GetAllDetails(), jobs: where.GetExpandJobs(), begins: where.GetQuery(),
		tree: where.GetReturnOnlyNodeRefsTree() || req.GetReturnOnlyNodeRefsTree(),
	}
	var err error
	if err = structure.CheckContext("where.context", where.GetContext()); err != nil {
		return q, err
	}
	if q.day, err = structure.Day("where.date", where.GetDate()); err != nil {
		return q, err
	}
	if err := q.refs(where.GetLocationSets()); err != nil {
		return q, err
	}
	return q, q.ofTypes(where.GetTypes())
}

func (q *question) refs(refs *commonsv1.LocationSetRefs) error {
	if refs == nil {
		return nil
	}
	if _, err := reflist.ExactlyOne(structure.CodeNoList, "where.locationSets", refs); err != nil {
		return err
	}
	q.some = true
	q.ids, q.names, q.persistentID = refs.GetIds(), refs.GetQualifiers(), refs.GetPersistentIds()
	for _, ref := range refs.GetRefs() {
		if err := structure.CheckRef("where.locationSets.refs", ref); err != nil {
			return err
		}
		if ref.Id != nil {
			q.ids = append(q.ids, ref.GetId())
		} else {
			q.names = append(q.names, ref.GetQualifier())
		}
	}
	return nil
}

func (q *question) ofTypes(given *commonsv1.LocationSetTypes) error {
	for _, id := range given.GetIds() {
		if err := checkType(int32(max(0, min(id, math.MaxInt32)))); err != nil {
			return err
		}
		q.types = append(q.types, int16(id))
	}
	for _, name := range given.GetQualifiers() {
		id := slices.Index(types(), name)
		if id < 1 {
			return fault.Invalid(structure.CodeValue, suggest.NotOneOf("where.types.qualifiers", name, types()[1:]...))
		}
		q.types = append(q.types, int16(id))
	}
	return nil
}

// response returns sets by name and their total number. It leaves out unknown sets.
func (h *Handler) response(ctx context.Context, q question, p page) (list []*commonsv1.LocationSet, total int, err error) {
	err = pg.InSnapshot(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		list, total, err = response(ctx, tx, q, p)
		return err
	})
	return list, total, err
}

func response(ctx context.Context, db pg.Querier, q question, p page) ([]*commonsv1.LocationSet, int, error) {
	const where = ` FROM location_set WHERE tenant_id = $1
		AND (NOT $2 OR id = ANY($3) OR name = ANY($4) OR persistent_id = ANY($5))
		AND ($6::smallint[] IS NULL OR type_id = ANY($6)) AND lower(left(name, length($7))) = lower($7)`
	args := []any{tenant.Of(ctx), q.some, q.ids, q.names, q.persistentID, q.types, q.begins}
	var total int
	if err := db.QueryRow(ctx, `SELECT count(*)`+where, args...).Scan(&total); err != nil {
		return nil, 0, err
	}
	after, order, rows := p.after()
	list, err := pg.Collect(ctx, db, scan, `SELECT `+columns+where+` AND id > $8 ORDER BY `+order+` OFFSET $9 LIMIT $10`, append(args, after, p.skip, rows)...)
	if err != nil {
		return nil, 0, err
	}
	if !q.details {
		for i, s := range list {
			list[i] = &commonsv1.LocationSet{Id: s.Id, Name: s.Name, PersistentId: s.PersistentId}
		}
		return list, total, nil
	}
	if err := fill(ctx, db, list, q.day); err != nil {
		return nil, 0, err
	}
	for _, s := range list {
		if q.jobs {
			if err := expandJobs(ctx, db, s, q.day); err != nil {
				return nil, 0, err
			}
		}
		if q.tree {
			s.NodeRefsTree, s.NodeRefs = tree(s), nil
		}
	}
	return list, total, nil
}

// tree returns the locations of a set, each below its nearest ancestor in the set.
func tree(set *commonsv1.LocationSet) *commonsv1.LocationSetNode {
	root := &commonsv1.LocationSetNode{NodeName: set.GetName()}
	byPath := make(map[string]*commonsv1.LocationSetNode, len(set.GetNodeRefs()))
	paths := make([]string, len(set.GetNodeRefs()))
	for i, ref := range set.GetNodeRefs() {
		paths[i] = ref.GetQualifier()
		byPath[paths[i]] = &commonsv1.LocationSetNode{Id: ref.Id, NodeName: paths[i][strings.LastIndexByte(paths[i], '/')+1:]}
	}
	for _, path := range paths {
		above := root
		for end := strings.LastIndexByte(path, '/'); end > 0; end = strings.LastIndexByte(path[:end], '/') {
			if n, ok := byPath[path[:end]]; ok {
				above = n
				break
			}
		}
		above.Children = append(above.Children, byPath[path])
	}
	if len(root.Children) == 1 {
		return root.Children[0]
	}
	return root
}

// checkContext checks the context of a query, which may lack one.
func checkContext(text string) error {
	if text == "" {
		return nil
	}
	return structure.CheckContext("context", text)
}
