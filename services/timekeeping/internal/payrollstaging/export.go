package payrollstaging

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

const (
	// exportLife is the time after which an export expires.
	exportLife = 7 * 24 * time.Hour
	// maxExports is the maximum number of exports of a run, and maxListed the maximum number of
	// exports in a list.
	maxExports, maxListed = 100, 1000
	// CodeNotReady (409): the run of the export is not complete. Read its status first.
	CodeNotReady = "WRL-20917"
	// CodeFull (409): the run already has the largest allowed number of exports. Stage the time again
	// under another executionId.
	CodeFull = "WRL-20918"
)

// Exports serves PayrollExportService.
type Exports struct {
	timekeepingv1.UnsafePayrollExportServiceServer
	deps Deps
}

var _ timekeepingv1.PayrollExportServiceServer = (*Exports)(nil)

// NewExports returns an Exports.
func NewExports(deps Deps) *Exports { return &Exports{deps: deps} }

// export is a row with the state of its run.
type export struct {
	ID, Staging uuid.UUID
	Body        []byte
	Expires     time.Time
	State       string
}

const readExport = `SELECT x.id, x.staging_id, x.body, x.expires_at, s.state FROM payroll_export x
	JOIN payroll_staging s ON s.tenant_id = x.tenant_id AND s.id = x.staging_id
	WHERE x.tenant_id = $1 AND x.expires_at > now() `

// ExportPayroll stores the request for an export. The text is generated from the staged rows when a
// caller reads it.
func (h *Exports) ExportPayroll(ctx context.Context, req *timekeepingv1.PayrollExportRequest) (*timekeepingv1.PayrollExport, error) {
	r, err := h.source(ctx, req.GetRequestId())
	if err != nil {
		return nil, err
	}
	if r.State == stateCancelled {
		return nil, refuseCancelled(r.ID)
	}
	staging := &timekeepingv1.PayrollStagingRequest{}
	if err := proto.Unmarshal(r.Body, staging); err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	if err := checkExport(req, staging); err != nil {
		return nil, err
	}
	body, err := proto.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("store export: %w", err)
	}
	e := export{Staging: r.ID, State: r.State}
	if e.ID, err = uuid.NewV7(); err != nil {
		return nil, fmt.Errorf("name an export: %w", err)
	}
	err = pg.InTx(ctx, h.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
		done, err := tx.Exec(ctx, `UPDATE payroll_staging SET exported_at = coalesce(exported_at, now())
			WHERE tenant_id = $1 AND id = $2 AND state <> $3`, tenant.Of(ctx), r.ID, stateCancelled)
		if err == nil && done.RowsAffected() == 0 {
			return refuseCancelled(r.ID) // The run was cancelled after it was read.
		}
		if err != nil {
			return fmt.Errorf("note export: %w", err)
		}
		var count int
		err = tx.QueryRow(ctx, `SELECT count(*) FROM payroll_export WHERE tenant_id = $1 AND staging_id = $2`, tenant.Of(ctx), r.ID).Scan(&count)
		if err == nil && count >= maxExports {
			return fault.Conflict(CodeFull, fmt.Sprintf("The run has %d exports, which is the limit.", count))
		}
		if err != nil {
			return fmt.Errorf("count exports: %w", err)
		}
		return tx.QueryRow(ctx, `INSERT INTO payroll_export (tenant_id, id, staging_id, body, expires_at)
			VALUES ($1, $2, $3, $4, now() + make_interval(secs => $5)) RETURNING expires_at`,
			tenant.Of(ctx), e.ID, r.ID, body, exportLife.Seconds()).Scan(&e.Expires)
	})
	if err != nil {
		return nil, err
	}
	if err := rpc.SetContentLocation(ctx, "/v1/commons/payroll/export/async/"+e.ID.String()+"/status"); err != nil {
		return nil, err
	}
	out := e.message()
	if r.ID.String() != req.GetRequestId() {
		out.Message += ". It has the rows of the newest run"
	}
	return out, nil
}

func checkExport(req *timekeepingv1.PayrollExportRequest, staging *timekeepingv1.PayrollStagingRequest) error {
	if len(req.GetExportConfig().GetFileName()) > maxText {
		return invalid("exportConfig.fileName has more than %d characters.", maxText)
	}
	for name, lines := range fault.InOrder(map[string][]string{"headers": req.GetHeaders(), "footers": req.GetFooters()}) {
		for i, line := range lines {
			if len(line) > 10_000 || strings.ContainsAny(line, "\r\n") {
				return invalid("%s[%d] needs one line of at most 10000 characters.", name, i)
			}
		}
	}
	names, err := customFields(staging)
	if err != nil {
		return err
	}
	columns, err := selectedColumns(req.GetQuery(), names)
	if err != nil {
		return err
	}
	return checkFormat(req, columns)
}

func parseDelimiter(config *timekeepingv1.PayrollExportConfig) (rune, error) {
	switch config.GetDelimiter() {
	case "", ",":
		return ',', nil
	case ";", "|", "\t":
		return rune(config.GetDelimiter()[0]), nil
	}
	return 0, invalid("exportConfig.delimiter: %q is not one of comma, semicolon, bar and tab.", config.GetDelimiter())
}

func (e export) message() *timekeepingv1.PayrollExport {
	out := &timekeepingv1.PayrollExport{
		ExecutionKey: e.ID.String(), State: "PENDING", Message: "Execution accepted", ExpiresAt: e.Expires.UTC().Format("2006-01-02T15:04:05.000"),
	}
	ping := int32(pingSeconds)
	switch e.State {
	case "success":
		out.State, out.Message, ping = "SUCCESSFUL", "The export can be read", 0
	case "failed":
		out.State, out.Message, ping = "FAILED", "No employee of the run could be staged", 0
	}
	out.NextPing = &ping
	return out
}

// ListPayrollExports returns the exports of the tenant that have not expired.
func (h *Exports) ListPayrollExports(ctx context.Context, _ *timekeepingv1.ListPayrollExportsRequest) (*timekeepingv1.PayrollExportList, error) {
	rows, err := h.deps.Pool.Query(ctx, readExport+`ORDER BY x.id DESC LIMIT $2`, tenant.Of(ctx), maxListed)
	if err != nil {
		return nil, fmt.Errorf("read exports: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[export])
	if err != nil {
		return nil, fmt.Errorf("read exports: %w", err)
	}
	visible, err := h.deps.Persons.Visible(ctx)
	if err != nil {
		return nil, err
	}
	runs := make([]uuid.UUID, len(found))
	for i, e := range found {
		runs[i] = e.Staging
	}
	shown, err := visibleRuns(ctx, h.deps.Pool, visible, runs)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(e export) bool { return !shown[e.Staging] })
	total := int64(len(found))
	out := &timekeepingv1.PayrollExportList{TotalElements: &total}
	for _, e := range found {
		out.Records = append(out.Records, e.message())
	}
	return out, nil
}

// GetPayrollExportStatus returns whether an export is ready to be read.
func (h *Exports) GetPayrollExportStatus(ctx context.Context, req *timekeepingv1.GetPayrollExportRequest) (*timekeepingv1.PayrollExport, error) {
	e, err := h.find(ctx, req.GetExecutionKey())
	if err != nil {
		return nil, err
	}
	return e.message(), nil
}

func (h *Exports) find(ctx context.Context, text string) (*export, error) {
	tenantID := tenant.Of(ctx)
	id, err := uuid.Parse(text)
	if err != nil {
		return nil, unknownExport(text)
	}
	rows, err := h.deps.Pool.Query(ctx, readExport+`AND x.id = $2`, tenantID, id)
	if err != nil {
		return nil, fmt.Errorf("read export: %w", err)
	}
	e, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[export])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, unknownExport(text)
	}
	if err != nil {
		return nil, fmt.Errorf("read export: %w", err)
	}
	visible, err := h.deps.Persons.Visible(ctx)
	if err != nil {
		return nil, err
	}
	shown, err := visibleRuns(ctx, h.deps.Pool, visible, []uuid.UUID{e.Staging})
	if err != nil {
		return nil, err
	}
	if !shown[e.Staging] {
		authn.NoteNotVisible(ctx)
		return nil, unknownExport(text)
	}
	return &e, nil
}

func unknownExport(text string) error {
	if len(text) > 40 {
		text = text[:40]
	}
	return fault.NotFound(CodeUnknown, fmt.Sprintf("There is no export with the executionKey %q, or it has expired.", text))
}
