package dataaccess

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/cursor"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/rpc/parts"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/catalogue"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/encoding"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/errcode"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/query"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/table"
)

// Config is the configuration of information access. The zero value of each field is valid.
type Config struct {
	ProviderTimeout time.Duration `default:"20s" help:"How long information access waits for a data provider before it responds without that provider."`
	CacheFor        time.Duration `default:"5m" help:"How long information access caches a result."`
	CacheBytes      int           `default:"67108864" help:"Approximate memory for cached results of information access, in bytes."`
}

// Deps are the dependencies of the handler.
type Deps struct {
	// Commons, Timekeeping and Scheduling are connections to the services with providers.
	Commons, Timekeeping, Scheduling grpc.ClientConnInterface
	// Rules determine the visible employees of callers.
	Rules *rowvisibility.Rules
	Log   *slog.Logger
	Clock clock.Clock
}

// Handler serves DataService.
type Handler struct {
	platformv1.UnsafeDataServiceServer

	catalogue *catalogue.Catalogue
	types     commonsv1.LocationTypeServiceClient
	finder    finder
	reader    reader
	results   results
	rules     *rowvisibility.Rules
	clock     clock.Clock
	cacheFor  time.Duration
}

var _ platformv1.DataServiceServer = (*Handler)(nil)

// New returns the handler. It makes no calls.
func New(cfg Config, deps Deps) *Handler {
	cfg = defaults.Fill(cfg)
	return &Handler{
		catalogue: catalogue.New(deps.Clock, datav1.NewDataProviderServiceClient(deps.Commons),
			datav1.NewDataProviderServiceClient(deps.Timekeeping), datav1.NewDataProviderServiceClient(deps.Scheduling)),
		types: commonsv1.NewLocationTypeServiceClient(deps.Commons),
		finder: finder{
			rows:       datav1.NewDataRowServiceClient(deps.Commons),
			hyperfinds: commonsv1.NewHyperfindServiceClient(deps.Commons),
			periods:    commonsv1.NewSymbolicPeriodServiceClient(deps.Commons),
			sets:       commonsv1.NewLocationSetServiceClient(deps.Commons),
		},
		reader:  reader{within: cfg.ProviderTimeout, log: deps.Log},
		results: newResults(deps.Clock, cfg.CacheBytes), rules: deps.Rules, clock: deps.Clock, cacheFor: cfg.CacheFor,
	}
}

// Dictionary returns the service that describes the elements.
func (h *Handler) Dictionary() *catalogue.Dictionary {
	return &catalogue.Dictionary{Catalogue: h.catalogue, Types: h.types}
}

// MultiReadData reads data elements. It returns the nodes of the response in encoded form.
func (h *Handler) MultiReadData(ctx context.Context, req *platformv1.MultiReadDataRequest) (*platformv1.MultiReadDataResponse, error) {
	q, err := query.Parse(req)
	if err != nil {
		return nil, err
	}
	digest, err := computeDigest(q.Digestible())
	if err != nil {
		return nil, err
	}
	options := req.GetOptions()
	tag := options.GetRequestTag()
	tagged := tag != ""
	if !tagged {
		tag = uuid.NewString()
	}
	visible, err := h.rules.Visible(ctx)
	if err != nil {
		return nil, err
	}
	key, err := newCacheKey(ctx, visible, tag, options.GetSecondaryRequestTag())
	if err != nil {
		return nil, err
	}
	var r *encoding.Result
	cached := true
	if tagged && !options.GetRefresh() {
		r = h.results.get(key, digest)
	}
	if r == nil {
		if r, err = h.read(ctx, q); err != nil {
			return nil, err
		}
		r.Digest = digest
		// An incomplete result must be read again next time.
		cached = r.Errors() == nil && fits(r, visible) && h.results.putResult(key, r)
	}
	return h.response(ctx, q, r, tag, cached)
}

// fits reports whether a result contains only rows that the caller sees. Each service determines these rows
// with some seconds of delay, so its rows may come from an earlier set. Sums over locations cannot be checked
// afterwards.
func fits(r *encoding.Result, visible rowvisibility.Set) bool {
	if visible.All() {
		return true
	}
	hidden := func(row *datav1.DataRow) bool { return !visible.Has(row.GetId()) }
	return r.View.OfEmployees() && !slices.ContainsFunc(r.Rows, hidden)
}

// read reads the data of a request.
func (h *Handler) read(ctx context.Context, q *query.Query) (*encoding.Result, error) {
	if err := h.finder.resolve(ctx, q); err != nil {
		return nil, err
	}
	known := h.catalogue.Elements(ctx)
	p, planErr := table.NewPlan(q, known)
	var shape *table.Shape
	if planErr == nil {
		shape, planErr = table.NewShape(q, p, known)
	}
	bounds := []int32{int32(q.Days.From), int32(q.Days.To)}
	if q.View.Series {
		bounds = q.Periods.Bounds(q.Days)
	}
	rows, err := h.rows(ctx, q, func(ctx context.Context, ids []int64) error {
		if planErr != nil {
			return planErr
		}
		return h.reader.read(ctx, p.Columns, ids, bounds)
	})
	if err != nil {
		return nil, err
	}
	table, err := shape.Apply(table.New(p.Columns, len(rows), len(bounds)-1))
	if err != nil {
		return nil, err
	}
	now := h.clock.Now()
	r := &encoding.Result{
		View: q.View, Label: q.Label, Week: q.Periods.Week(), Rows: rows, Bounds: bounds, Table: table, Read: p.Columns, Shown: p.Shown,
		MetadataKey: uuid.NewString(), ReadAt: now, Expires: now.Add(h.cacheFor),
	}
	r.Prepare()
	return r, nil
}

// rows finds the rows of a request and reads their data. If the request lists ids, it reads while it still
// checks them. It drops the data unless the caller may see all of the rows.
func (h *Handler) rows(ctx context.Context, q *query.Query, read func(ctx context.Context, ids []int64) error) ([]*datav1.DataRow, error) {
	ids := q.PlainIDs()
	if ids == nil {
		rows, err := h.finder.find(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			ids = append(ids, row.GetId())
		}
		return rows, read(ctx, ids)
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- read(reading, ids) }()
	rows, err := h.finder.find(ctx, q)
	if err != nil {
		stop()
		<-done
		return nil, err
	}
	return rows, <-done
}

// response writes a page of a result, or sends most of it in parts.
func (h *Handler) response(ctx context.Context, q *query.Query, r *encoding.Result, tag string, cached bool) (*platformv1.MultiReadDataResponse, error) {
	page, next, err := selectPage(r, q)
	if err != nil {
		return nil, err
	}
	total := strconv.Itoa(len(r.Table.Nodes))
	out := &platformv1.MultiReadDataResponse{Metadata: &platformv1.DataMetadata{
		LastRefreshed: timeText(r.ReadAt), NumNodes: strconv.Itoa(len(page)), MetadataKey: r.MetadataKey, CacheKey: tag,
		TotalNodes: total, TotalElements: total, Errors: r.Errors(), Next: next,
	}}
	if cached {
		out.Metadata.CacheExpirationTime = timeText(r.Expires)
	} else {
		out.Metadata.NotCached = proto.Bool(true)
	}
	w := &encoding.Writer{Result: r, Grid: strings.EqualFold(q.GetOptions().GetResponseType(), "GRID"), Totals: q.GetOptions().GetIncludeColumnTotals()}
	if r.NoneReadable() {
		out.Metadata.NumNodes, out.Metadata.TotalNodes, out.Metadata.TotalElements = "0", "0", "0"
	}
	if err := w.CheckSize(page); err != nil {
		return nil, err
	}
	var fields []byte
	if parts.Requested(ctx) {
		w.Send = func(fields []byte) ([]byte, error) { return parts.Send(ctx, fields) }
		// Send the leading fields first.
		if fields, err = proto.Marshal(out); err != nil {
			return nil, err
		}
		out = &platformv1.MultiReadDataResponse{}
	}
	if fields, err = w.Root(fields, page); err != nil {
		return nil, err
	}
	out.ProtoReflect().SetUnknown(fields)
	return out, nil
}

// selectPage returns the nodes of the requested page, and the cursor of the next page for a request with a cursor.
// The first page exists even if it is empty.
func selectPage(r *encoding.Result, q *query.Query) (page []int32, next string, err error) {
	nodes := r.Table.Nodes
	if q.Cursor != nil {
		size := len(nodes)
		if q.Count != nil {
			size = int(min(q.GetCount(), math.MaxInt32))
		}
		page, next = cursor.Pick(q.Cursor, slices.Clone(nodes), size, r.Position, query.Position.Compare)
		return page, next, nil
	}
	if q.Count == nil {
		if q.GetIndex() > 0 {
			return nil, "", errcode.Invalid(errcode.CodePage, "index: there is only page 0, because count is missing.")
		}
		return nodes, "", nil
	}
	count, total := q.GetCount(), int64(len(nodes))
	pages := max(1, (total-1)/count+1)
	if q.GetIndex() >= pages {
		return nil, "", errcode.Invalid(errcode.CodePage, "index: %d is too high. Pages are 0 to %d.", q.GetIndex(), pages-1)
	}
	first := q.GetIndex() * count
	return nodes[first : first+min(count, total-first)], "", nil
}

func timeText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

func computeDigest(m proto.Message) ([32]byte, error) {
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	return sha256.Sum256(text), err
}

// newCacheKey returns the cache key of a caller's tag. visible are the employees that the caller sees.
func newCacheKey(ctx context.Context, visible rowvisibility.Set, tag, further string) (cacheKey, error) {
	tenantID := tenant.Of(ctx)
	key := cacheKey{tenant: tenantID, ahead: clock.Ahead(ctx), visibility: visible.Digest(), tag: tag, further: further}
	if caller, ok := authn.From(ctx); ok {
		key.subject = caller.Subject
		permissions := slices.Sorted(slices.Values(caller.Permissions))
		key.rights = sha256.Sum256([]byte(strings.Join(append(permissions, caller.Rows, strconv.FormatInt(caller.PersonID, 10)), "\x00")))
	}
	return key, nil
}
