package brazil

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/afd"
)

const (
	lockDevice = `SELECT FROM brazil_device WHERE tenant_id = $1 AND id = $2 FOR KEY SHARE`
	// Uploading the same content again returns the same file.
	insertFile = `
INSERT INTO brazil_afd_file (tenant_id, device_id, digest, content, body) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant_id, device_id, digest) DO UPDATE SET digest = excluded.digest
RETURNING id, body`
	readFile = `SELECT id, body FROM brazil_afd_file WHERE tenant_id = $1 AND device_id = $2 AND id = $3`
)

// UploadBrazilAfdFile validates a file of a device, and stores it if it has no errors.
func (h *Devices) UploadBrazilAfdFile(ctx context.Context, req *timekeepingv1.UploadBrazilAfdFileRequest) (*timekeepingv1.BrazilAfdFile, error) {
	name, content := req.GetBody().GetName(), req.GetBody().GetContent()
	if len(content) == 0 {
		return nil, invalid("content is missing: the bytes of the file in base64")
	}
	device, err := h.resource.Get(ctx, req.GetDeviceId())
	if err != nil {
		return nil, err
	}
	switch visible, err := h.rows.Visible(ctx); {
	case err != nil:
		return nil, err
	case !visible.All():
		return nil, fault.Forbidden(fault.CodeNoAccess, "A file has the punches of all employees at the device. Only users who see all employees can store files.")
	}
	file := parseFile(device, name, content)
	if !file.GetAccepted() {
		return file, nil
	}
	body, err := proto.Marshal(file)
	if err != nil {
		return nil, fmt.Errorf("brazil: encode a file: %w", err)
	}
	tenantID := tenant.Of(ctx)
	digest := sha256.Sum256(content)
	err = pg.InTx(ctx, h.resource.Pool, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockDevice, tenantID, device.GetId()); err != nil {
			return fmt.Errorf("brazil: lock a device: %w", err)
		}
		file, err = scanFile(tx.QueryRow(ctx, insertFile, tenantID, device.GetId(), digest[:], content, body))
		if pgerr.IsForeignKey(err, "brazil_afd_file_device") {
			return fault.NotFound(CodeUnknown, fmt.Sprintf("There is no device with the id %d.", device.GetId()))
		}
		return err
	})
	return file, err
}

// parseFile parses a file, and returns its content and its errors.
func parseFile(device *timekeepingv1.BrazilDevice, name string, content []byte) *timekeepingv1.BrazilAfdFile {
	read := afd.Read(content, afd.Device{Kind: afd.Kind(device.GetType()), Serial: device.GetSerialNumber()})
	out := &timekeepingv1.BrazilAfdFile{
		Device: &commonv1.Ref{Id: device.Id, Qualifier: proto.String(device.GetName())}, Name: name,
		Accepted: proto.Bool(len(read.Errors) == 0), Lines: proto.Int32(int32(read.Lines)),
		FirstRecord: &read.First, LastRecord: &read.Last,
	}
	for _, e := range read.Errors {
		out.Errors = append(out.Errors, &timekeepingv1.BrazilAfdError{Line: int32(e.Line), ErrorCode: string(e.Code), Message: e.Message})
	}
	for _, p := range read.Punches {
		out.Punches = append(out.Punches, &timekeepingv1.BrazilAfdPunch{Record: p.Record, Cpf: p.CPF, PunchedAt: p.At.Format(time.RFC3339)})
	}
	return out
}

func scanFile(row pgx.Row) (*timekeepingv1.BrazilAfdFile, error) {
	var id int64
	var body []byte
	if err := row.Scan(&id, &body); err != nil {
		return nil, err
	}
	file := &timekeepingv1.BrazilAfdFile{}
	if err := proto.Unmarshal(body, file); err != nil {
		return nil, fmt.Errorf("brazil: decode the file %d: %w", id, err)
	}
	file.Id = &id
	return file, nil
}

// GetBrazilAfdFile returns the content of a stored file. It returns 404 if the file does not exist,
// and also to callers who do not see all persons, because the file may contain punches of anyone.
func (h *Devices) GetBrazilAfdFile(ctx context.Context, req *timekeepingv1.GetBrazilAfdFileRequest) (*timekeepingv1.BrazilAfdFile, error) {
	tenantID := tenant.Of(ctx)
	visible, err := h.rows.Visible(ctx)
	if err != nil {
		return nil, err
	}
	file, err := scanFile(h.resource.Pool.QueryRow(ctx, readFile, tenantID, req.GetDeviceId(), req.GetId()))
	if err == nil && !visible.All() {
		authn.NoteNotVisible(ctx)
		err = pgx.ErrNoRows
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fault.NotFound(CodeUnknown, fmt.Sprintf("There is no file with the id %d of the device %d.", req.GetId(), req.GetDeviceId()))
	}
	return file, err
}
