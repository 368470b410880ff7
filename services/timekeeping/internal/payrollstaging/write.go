package payrollstaging

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/protofield"
	"github.com/rotaloom/rotaloom/pkg/rpc/parts"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// chunkSize is the approximate size of a part of a text, in bytes.
const chunkSize = 256 << 10

// GetPayrollExportResponse writes the text of an export, in parts if the caller accepts parts.
func (h *Exports) GetPayrollExportResponse(ctx context.Context, req *timekeepingv1.GetPayrollExportRequest) (*timekeepingv1.PayrollExportText, error) {
	e, err := h.find(ctx, req.GetExecutionKey())
	if err != nil {
		return nil, err
	}
	if e.State != "success" {
		return nil, fault.Conflict(CodeNotReady, "The run of the export has not finished successfully: "+e.State+". Ask for the status first.")
	}
	w, err := h.writer(ctx, e)
	if err != nil {
		return nil, err
	}
	visible, err := h.deps.Persons.Visible(ctx)
	if err != nil {
		return nil, err
	}
	var only []int64
	if !visible.All() {
		only = append([]int64{}, visible.IDs()...)
	}
	if err := h.rows(ctx, e, w, only); err != nil {
		return nil, err
	}
	return w.end()
}

// textWriter writes a text in pieces.
type textWriter struct {
	ctx     context.Context
	columns []column
	format  format
	// out has the content type of the text, and its pieces for a caller that does not accept parts.
	out *timekeepingv1.PayrollExportText
	// sent means that the first part, which contains the content type, was sent.
	sent bool
}

func (h *Exports) writer(ctx context.Context, e *export) (*textWriter, error) {
	req, staging := &timekeepingv1.PayrollExportRequest{}, &timekeepingv1.PayrollStagingRequest{}
	r, err := readRun(ctx, h.deps.Pool, e.Staging)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, unknownExport(e.ID.String())
	}
	if err := proto.Unmarshal(e.Body, req); err != nil {
		return nil, fmt.Errorf("read export: %w", err)
	}
	if err := proto.Unmarshal(r.Body, staging); err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	fields, err := customFields(staging)
	if err != nil {
		return nil, err
	}
	w := &textWriter{ctx: ctx, out: &timekeepingv1.PayrollExportText{}}
	if w.columns, err = selectedColumns(req.GetQuery(), fields); err != nil {
		return nil, err
	}
	names := make([]string, len(w.columns))
	for i, c := range w.columns {
		names[i] = c.name
	}
	w.format, w.out.ContentType, err = begin(req, names, h.deps.CSV)
	return w, err
}

func (w *textWriter) row(values []string) error {
	size, err := w.format.row(values)
	if err != nil || size < chunkSize {
		return err
	}
	return w.flush()
}

// The fields of a text that hold its pieces and its type.
var (
	textPieces = protofield.MustNumber(&timekeepingv1.PayrollExportText{}, "pieces")
	textType   = protofield.MustNumber(&timekeepingv1.PayrollExportText{}, "content_type")
)

// flush sends the pending text, or keeps it for the response.
func (w *textWriter) flush() error {
	piece := w.format.take()
	if len(piece) == 0 {
		return nil
	}
	if !parts.Requested(w.ctx) {
		w.out.Pieces = append(w.out.Pieces, piece)
		return nil
	}
	var fields []byte
	if !w.sent && w.out.GetContentType() != "" {
		fields = protowire.AppendString(protowire.AppendTag(fields, textType, protowire.BytesType), w.out.GetContentType())
	}
	w.sent = true
	_, err := parts.Send(w.ctx, protowire.AppendBytes(protowire.AppendTag(fields, textPieces, protowire.BytesType), piece))
	return err
}

func (w *textWriter) end() (*timekeepingv1.PayrollExportText, error) {
	w.format.end()
	if piece := w.format.take(); len(piece) > 0 {
		w.out.Pieces = append(w.out.Pieces, piece)
	}
	return w.out, nil
}

// rows writes the rows of the employees in only, or of all employees if only is nil, while it reads
// them from the database.
func (h *Exports) rows(ctx context.Context, e *export, w *textWriter, only []int64) error {
	shown := make([]string, len(w.columns))
	for i, c := range w.columns {
		if shown[i] = c.sql; c.field > 0 {
			shown[i] = fmt.Sprintf("coalesce(e.custom_fields[%d], '')", c.field)
		}
	}
	rows, err := h.deps.Pool.Query(ctx, `SELECT `+strings.Join(shown, ", ")+`
		FROM payroll_staged_row r
		JOIN payroll_staged_employee e ON e.tenant_id = r.tenant_id AND e.staging_id = r.staging_id AND e.employee_id = r.employee_id
		JOIN payroll_staging s ON s.tenant_id = r.tenant_id AND s.id = r.staging_id
		WHERE r.tenant_id = $1 AND r.staging_id = $2 AND ($3::bigint[] IS NULL OR r.employee_id = ANY($3))
		ORDER BY r.employee_id, r.row_number`, tenant.Of(ctx), e.Staging, only)
	if err != nil {
		return fmt.Errorf("read staged rows: %w", err)
	}
	values, places := make([]string, len(w.columns)), make([]any, len(w.columns))
	for i := range values {
		places[i] = &values[i]
	}
	_, err = pgx.ForEachRow(rows, places, func() error { return w.row(values) })
	if err != nil {
		return fmt.Errorf("write staged rows: %w", err)
	}
	return nil
}

// columnSQL lists the columns of an export. Custom fields follow under their own names.
var columnSQL = []struct{ name, sql string }{
	{"person_num", "e.person_number"},
	{"full_name", "e.full_name"},
	{"amount_type", "CASE WHEN r.days IS NOT NULL THEN 'DAY' WHEN r.hours IS NULL AND r.seconds = 0 AND r.money IS NOT NULL THEN 'MONEY' ELSE 'HOUR' END"},
	{"apply_date", "r.apply_date::text"},
	// Seconds need not be a finite decimal of an hour; seconds_amount is exact.
	{"hours_amount", "trim_scale(coalesce(r.hours, round(r.seconds::numeric / 3600, 6)))::text"},
	{"seconds_amount", "CASE WHEN r.hours IS NULL THEN r.seconds::text ELSE '' END"},
	{"days_amount", "coalesce(r.days::text, '')"},
	{"money_amount", "coalesce(r.money::text, '')"},
	{"paycode_name", "r.pay_code"},
	{"job", "r.job"},
	{"source", "r.kind"},
	{"historical_date", "coalesce(r.historical_date::text, '')"},
	{"range_start_date", "s.start_date::text"},
	{"range_end_date", "s.end_date::text"},
	{"correction_cause", "r.cause"},
}

// column is a column of an export.
type column struct {
	name string
	// sql is the expression of the column, or "" for a custom field.
	sql string
	// field is the position of the custom field, from 1.
	field int
}

func allColumns(customFields []string) []column {
	var out []column
	for _, c := range columnSQL {
		out = append(out, column{name: c.name, sql: c.sql})
	}
	for i, name := range customFields {
		out = append(out, column{name: name, field: i + 1})
	}
	return out
}

var (
	queryForm = regexp.MustCompile(`(?is)^\s*select\s+(.+?)\s+from\s+"?\$payroll"?\s*;?\s*$`)
	itemForm  = regexp.MustCompile(`(?is)^\s*("[^"]+"|[\w.]+)(?:\s+as\s+("[^"]+"|\w+))?\s*$`)
)

// selectedColumns returns the columns that a query selects.
func selectedColumns(query string, customFields []string) ([]column, error) {
	all := allColumns(customFields)
	if strings.TrimSpace(query) == "" {
		return all, nil
	}
	form := queryForm.FindStringSubmatch(query)
	if form == nil || len(query) > 10_000 {
		return nil, invalid("query: a query has the form SELECT column, column AS name FROM $Payroll.")
	}
	var out []column
	for item := range strings.SplitSeq(form[1], ",") {
		if strings.TrimSpace(item) == "*" {
			out = append(out, all...)
			continue
		}
		parts := itemForm.FindStringSubmatch(item)
		if parts == nil {
			return nil, invalid("query: %q is neither a column nor a column AS a name.", strings.TrimSpace(item))
		}
		name, found := strings.Trim(parts[1], `"`), false
		for _, c := range all {
			if found = strings.EqualFold(c.name, name); found {
				if alias := strings.Trim(parts[2], `"`); alias != "" {
					c.name = alias
				}
				out = append(out, c)
				break
			}
		}
		if !found {
			return nil, invalid("query: there is no column %q.", name)
		}
	}
	return out, nil
}
