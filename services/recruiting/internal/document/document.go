// Package document keeps the files of candidates and of applications. A file has one of a few types,
// which its content determines, and is never served as a page.
package document

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

const (
	// CodeUnknown (404): the candidate or the application has no document with the id. List its documents.
	CodeUnknown = "WRL-50801"
	// CodeSize (413): the file has more than 6 MB. Upload a smaller one.
	CodeSize = "WRL-50802"
	// CodeFull (409): the candidate or the application has 10 documents, which is the limit. No other one can be added.
	CodeFull = "WRL-50803"
	// CodeType (415): the content of the file is not of a type that documents may have. Upload a jpg, png, pdf, doc or docx file.
	CodeType = "WRL-50804"
	// CodeInvalid (400): a property has a value that is not allowed. Correct it.
	CodeInvalid = "WRL-50805"
)

const (
	// maxDocuments is the largest number of documents of a candidate, and of an application.
	maxDocuments = 10
	// maxSize is the largest size of a file in bytes. The contract has the same size.
	maxSize = 6 << 20
	// pieceSize is the size of a piece of a file in a response, in bytes.
	pieceSize = 256 << 10
)

// Owner is a candidate, or an application of a candidate.
type Owner struct {
	CandidateID string
	// ApplicationID is "" for the documents of the candidate itself.
	ApplicationID string
}

// Upload is a request with a file.
type Upload interface {
	GetDocumentType() string
	// GetFileName is a name without a path, which the edge has sanitized.
	GetFileName() string
	GetFile() []byte
}

// scanner returns a function that reads the description of a document.
func (o Owner) scanner() func(pgx.CollectableRow) (*recruitingv1.Document, error) {
	return func(row pgx.CollectableRow) (*recruitingv1.Document, error) {
		d := &recruitingv1.Document{}
		var created time.Time
		var creator *int64
		if err := row.Scan(&d.Id, &d.DocumentType, &d.FileName, &d.ContentType, &d.Size, &created, &creator); err != nil {
			return nil, err
		}
		d.CreatedAt = record.Moment(created.UnixMicro())
		if creator != nil {
			d.Creator = &recruitingv1.IdRef{Id: record.PersonGUID(*creator)}
		}
		d.Links = []*recruitingv1.Link{{Href: o.path() + "/documents/" + d.GetId() + "/download", Rel: "self"}}
		return d, nil
	}
}

func (o Owner) path() string {
	if o.ApplicationID != "" {
		return "/v1/recruiting/applications/" + o.ApplicationID
	}
	return "/v1/recruiting/candidates/" + o.CandidateID
}

const (
	columns = "id::text, document_type, file_name, content_type, size, created_at, creator_id"
	owned   = "tenant_id = $1 AND candidate_id = $2 AND application_id IS NOT DISTINCT FROM nullif($3, '')::uuid"
)

// Add stores the file of an upload for an owner that tx has locked. If the content is not of a type that
// documents may have, the error has status 415, if the file is too large 413, and if the owner has too
// many documents 409.
func Add(ctx context.Context, tx pgx.Tx, owner Owner, upload Upload) (*recruitingv1.Document, error) {
	content := upload.GetFile()
	if len(content) > maxSize {
		return nil, fault.TooLarge(CodeSize, "A document has at most 6 MB. Upload a smaller file.").WithMembers("file")
	}
	detected, ok := detect(content)
	if !ok {
		return nil, fault.New(CodeType, 415, "The content of the file is not that of a jpg, png, pdf, doc or docx file. Upload one of these.").WithMembers("file")
	}
	var count int
	if err := tx.QueryRow(ctx, "SELECT count(*) FROM document WHERE "+owned, tenant.Of(ctx), owner.CandidateID, owner.ApplicationID).Scan(&count); err != nil {
		return nil, fmt.Errorf("count documents: %w", err)
	}
	if count >= maxDocuments {
		return nil, fault.Conflict(CodeFull, fmt.Sprintf("There are %d documents, which is the limit.", count))
	}
	var creator *int64
	if id, ok := record.PersonID(record.Caller(ctx)); ok {
		creator = &id
	}
	added, err := pg.Collect(ctx, tx, owner.scanner(), `INSERT INTO document (tenant_id, candidate_id, application_id, document_type, file_name, content_type, size, creator_id, content)
		VALUES ($1, $2, nullif($3, '')::uuid, $4, $5, $6, $7, $8, $9) RETURNING `+columns,
		tenant.Of(ctx), owner.CandidateID, owner.ApplicationID, upload.GetDocumentType(), detected.completeName(upload.GetFileName()), detected.mediaType, len(content), creator, content)
	if err != nil {
		return nil, fmt.Errorf("store a document: %w", err)
	}
	return added[0], nil
}

// List returns the documents of an owner in the order of their upload.
func List(ctx context.Context, db pg.Querier, owner Owner) ([]*recruitingv1.Document, error) {
	list, err := pg.Collect(ctx, db, owner.scanner(), "SELECT "+columns+" FROM document WHERE "+owned+" ORDER BY number", tenant.Of(ctx), owner.CandidateID, owner.ApplicationID)
	if err != nil {
		return nil, fmt.Errorf("list documents: %w", err)
	}
	return list, nil
}

// get returns the description of a document of an owner, or 404.
func get(ctx context.Context, db pg.Querier, owner Owner, id string) (*recruitingv1.Document, error) {
	unknown := fault.NotFound(CodeUnknown, "There is no document with this id.")
	guid, err := uuid.Parse(id)
	if err != nil {
		return nil, unknown
	}
	list, err := pg.Collect(ctx, db, owner.scanner(), "SELECT "+columns+" FROM document WHERE "+owned+" AND id = $4", tenant.Of(ctx), owner.CandidateID, owner.ApplicationID, guid)
	switch {
	case err != nil:
		return nil, fmt.Errorf("find a document: %w", err)
	case len(list) == 0:
		return nil, unknown
	}
	return list[0], nil
}

// EraseCandidate deletes the documents of a candidate and of its applications.
func EraseCandidate(ctx context.Context, tx pgx.Tx, candidateID string) error {
	if _, err := tx.Exec(ctx, "DELETE FROM document WHERE tenant_id = $1 AND candidate_id = $2", tenant.Of(ctx), candidateID); err != nil {
		return fmt.Errorf("delete the documents of a candidate: %w", err)
	}
	return nil
}
