package document

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc/parts"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
)

// Download returns the file of a document of an owner, or 404. It sends the file in pieces while it reads
// it, if the caller of the method accepts them.
func Download(ctx context.Context, db pg.Querier, owner Owner, id string) (*recruitingv1.DocumentFile, error) {
	d, err := get(ctx, db, owner, id)
	if err != nil {
		return nil, err
	}
	out := &recruitingv1.DocumentFile{ContentType: d.GetContentType(), FileName: d.GetFileName()}
	var buffer []byte
	for at := 0; at < int(d.GetSize()); at += pieceSize {
		piece, err := read(ctx, db, d.GetId(), at)
		if err != nil {
			return nil, err
		}
		out.Pieces = append(out.Pieces, piece)
		if !parts.Requested(ctx) {
			continue
		}
		if buffer, err = (proto.MarshalOptions{}).MarshalAppend(buffer[:0], out); err != nil {
			return nil, fmt.Errorf("encode a piece of a document: %w", err)
		}
		if buffer, err = parts.Send(ctx, buffer); err != nil {
			return nil, err
		}
		out = &recruitingv1.DocumentFile{}
	}
	return out, nil
}

// read returns the piece of a file that begins after a number of bytes.
func read(ctx context.Context, db pg.Querier, id string, at int) (piece []byte, err error) {
	err = db.QueryRow(ctx, "SELECT substr(content, $3, $4) FROM document WHERE tenant_id = $1 AND id = $2", tenant.Of(ctx), id, at+1, pieceSize).Scan(&piece)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fault.NotFound(CodeUnknown, "The document was erased while it was read.")
	}
	if err != nil {
		return nil, fmt.Errorf("read a document: %w", err)
	}
	return piece, nil
}
