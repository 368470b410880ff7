package structure

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/anypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Since reads the UTC time that limits a response to later changes. It returns nil if the
// options have no time.
func Since(options *commonsv1.MultiReadOptions) (*time.Time, error) {
	if options.GetModifiedSince() == "" {
		return nil, nil
	}
	at, err := time.Parse("2006-01-02T15:04:05", options.GetModifiedSince())
	if err != nil {
		return nil, fault.Invalid(fault.CodeTime, "multiReadOptions.modifiedSince must have the form YYYY-MM-DDTHH:MM:SS.")
	}
	return &at, nil
}

// OneOrMore returns the references in a single reference or in a list. The request must have
// exactly one of the two. path is the path of the single reference without "Ref".
func OneOrMore(path string, one *commonv1.Ref, several *commonv1.RefList) ([]*commonv1.Ref, error) {
	if err := fault.AtMostOne(CodeNoList, "The request", path+"Ref and "+path+"Refs", one != nil, several != nil); err != nil {
		return nil, err
	}
	if several != nil {
		return Refs(path+"Refs", several)
	}
	if err := CheckRef(path+"Ref", one); err != nil {
		return nil, err
	}
	return []*commonv1.Ref{one}, nil
}

// PersistentIDs returns the ids of rows of a table by their persistent ids, in the order of
// the request: with 207 if some are unknown, and an error with the code if all are. The table
// name must be a constant, never a value from a caller.
func PersistentIDs(ctx context.Context, pool *pg.Pool, table string, asked []string, code string) (*commonsv1.PersistentIdMappings, error) {
	tenantID := tenant.Of(ctx)
	if len(asked) == 0 {
		return nil, Missing("where.persistentIds")
	}
	found := map[string]int64{}
	var persistentID string
	var id int64
	if err := pg.ForEach(ctx, pool, []any{&persistentID, &id}, func() error {
		found[persistentID] = id
		return nil
	}, `SELECT persistent_id, id FROM `+table+` WHERE tenant_id = $1 AND persistent_id = ANY($2)`,
		tenantID, asked); err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*commonsv1.PersistentIdMapping, *commonsv1.PersistentIdMapping]{}
	details := &commonv1.ErrorDetails{}
	for _, persistentID := range asked {
		mapping := &commonsv1.PersistentIdMapping{PersistentId: persistentID}
		id, known := found[persistentID]
		if !known {
			out.Fail(mapping, fault.Invalid(code, fmt.Sprintf("There is nothing with the persistentId %q.", persistentID)))
			continue
		}
		mapping.NodeId = strconv.FormatInt(id, 10)
		out.Succeed(mapping, mapping)
		success, err := anypb.New(mapping)
		if err != nil {
			return nil, err
		}
		details.Results = append(details.Results, &commonv1.BulkResult{Success: success})
	}
	if _, failure, err := rpc.BulkResult(ctx, out); failure != nil || err != nil {
		return &commonsv1.PersistentIdMappings{Failure: failure}, err
	}
	return &commonsv1.PersistentIdMappings{Message: "All elements succeeded.", Details: details}, nil
}
