package tagdefinition

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/domain/jobpath"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
)

// Handler serves TagDefinitionService.
type Handler struct {
	schedulingv1.UnsafeTagDefinitionServiceServer

	resource setup.Resource[*schedulingv1.TagDefinition]
}

var _ schedulingv1.TagDefinitionServiceServer = (*Handler)(nil)

// New returns the handler of TagDefinitionService. jobs warns of jobs that no location has; it may be nil.
func New(pool *pg.Pool, jobs *jobpath.Checker) *Handler {
	return &Handler{resource: setup.Resource[*schedulingv1.TagDefinition]{
		Kind: Kind(), Pool: pool, Prepare: prepare, Check: keepFormer, AfterStore: checkFree, CheckUnused: checkUnused, AfterDelete: deleteFormer,
		Show: func(ctx context.Context, list ...*schedulingv1.TagDefinition) error {
			return setupref.Show(ctx, pool, list...)
		},
		AfterCommit: func(ctx context.Context, sent ...*schedulingv1.TagDefinition) error {
			var refs []*commonv1.Ref
			for _, d := range sent {
				refs = append(refs, d.GetScheduleContextAttributes().GetDefaultJobTransfer())
			}
			return jobs.Warn(ctx, refs)
		},
	}}
}

// GetTagDefinitionByName returns the tag definition with a name, or the error 404.
func (h *Handler) GetTagDefinitionByName(ctx context.Context, req *schedulingv1.GetTagDefinitionByNameRequest) (*schedulingv1.TagDefinition, error) {
	name := req.GetName()
	if name == "" {
		return nil, fault.Invalid(CodeMissing, "The parameter name is missing.")
	}
	list, err := h.resource.List(ctx, nil, &name)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fault.NotFound(CodeUnknownName, fmt.Sprintf("There is no tag definition with the name %.100q.", name))
	}
	return list[0], nil
}

// GetTagDefinition returns one tag definition, or the error 404.
func (h *Handler) GetTagDefinition(ctx context.Context, req *schedulingv1.GetTagDefinitionRequest) (*schedulingv1.TagDefinition, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreateTagDefinition stores a new tag definition.
func (h *Handler) CreateTagDefinition(ctx context.Context, req *schedulingv1.TagDefinition) (*schedulingv1.TagDefinition, error) {
	return h.resource.Create(ctx, req)
}

// UpdateTagDefinition replaces a tag definition.
func (h *Handler) UpdateTagDefinition(ctx context.Context, req *schedulingv1.UpdateTagDefinitionRequest) (*schedulingv1.TagDefinition, error) {
	return h.resource.Update(ctx, req.GetId(), req.GetBody())
}

// DeleteTagDefinition deletes a tag definition that nothing refers to, or returns the error 404.
func (h *Handler) DeleteTagDefinition(ctx context.Context, req *schedulingv1.DeleteTagDefinitionRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}

// MultiReadTagDefinitions returns the requested definitions in the order of the request, or the
// definitions of a context by name. Without criteria it returns all.
func (h *Handler) MultiReadTagDefinitions(ctx context.Context, req *schedulingv1.MultiReadTagDefinitionsRequest) (*schedulingv1.TagDefinitionList, error) {
	where := req.GetWhere()
	refs, err := reflist.AtMostOne(CodeInvalid, "where.tagDefinitions", where.GetTagDefinitions())
	if err != nil {
		return nil, err
	}
	if err := fault.AtMostOne(CodeInvalid, "where", "tagDefinitions and tagAssignmentContext",
		len(refs) > 0, where.GetTagAssignmentContext() != nil); err != nil {
		return nil, err
	}
	if len(refs) == 0 {
		list, err := h.resource.List(ctx, nil, nil)
		if err == nil {
			list, err = filterByContext(list, where.GetTagAssignmentContext())
		}
		return &schedulingv1.TagDefinitionList{Items: list}, err
	}
	found, err := Find(ctx, h.resource.Pool, refs)
	if err != nil {
		return nil, err
	}
	list := make([]*schedulingv1.TagDefinition, len(refs))
	for i, ref := range refs {
		if list[i], err = found.Of(fmt.Sprintf("where.tagDefinitions[%d]", i), ref); err != nil {
			return nil, err
		}
	}
	return &schedulingv1.TagDefinitionList{Items: list}, setupref.Show(ctx, h.resource.Pool, list...)
}

func filterByContext(list []*schedulingv1.TagDefinition, ref *commonv1.Ref) ([]*schedulingv1.TagDefinition, error) {
	if ref == nil {
		return list, nil
	}
	context, err := parseContext("where.tagAssignmentContext", ref)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(d *schedulingv1.TagDefinition) bool { return !For(d, context) }), nil
}

// For reports whether a definition is for tags in a context.
func For(d *schedulingv1.TagDefinition, context string) bool {
	return slices.ContainsFunc(d.GetAssignmentContexts(), func(r *commonv1.Ref) bool { return r.GetQualifier() == context })
}

// Found has the tag definitions of references.
type Found struct {
	byID   map[int64]*schedulingv1.TagDefinition
	byName map[string]*schedulingv1.TagDefinition
}

// Find reads the tag definitions of references. Unknown ones are absent.
func Find(ctx context.Context, db pg.Querier, refs []*commonv1.Ref) (Found, error) {
	var ids []int64
	var names []string
	for _, ref := range refs {
		if id := ref.GetId(); id != 0 {
			ids = append(ids, id)
		} else if ref.GetQualifier() != "" {
			names = append(names, ref.GetQualifier())
		}
	}
	found := Found{map[int64]*schedulingv1.TagDefinition{}, map[string]*schedulingv1.TagDefinition{}}
	if len(ids)+len(names) == 0 {
		return found, nil
	}
	list, err := Kind().Find(ctx, db, ids, names)
	for _, d := range list {
		found.byID[d.GetId()], found.byName[strings.ToLower(d.GetName())] = d, d
	}
	return found, err
}

// Of returns the definition of a reference. path is the path of the reference in the request. The
// id takes precedence over the qualifier.
func (f Found) Of(path string, ref *commonv1.Ref) (*schedulingv1.TagDefinition, error) {
	switch {
	case ref.GetId() != 0:
		if d := f.byID[ref.GetId()]; d != nil {
			return d, nil
		}
		return nil, fault.Newf(CodeUnknown, http.StatusBadRequest, "The tag definition with the id %d (%s) does not exist.", ref.GetId(), path)
	case ref.GetQualifier() != "":
		if d := f.byName[strings.ToLower(ref.GetQualifier())]; d != nil {
			return d, nil
		}
		return nil, fault.Newf(CodeUnknownName, http.StatusBadRequest, "The tag definition %.100q (%s) does not exist.", ref.GetQualifier(), path)
	}
	return nil, fault.Invalid(CodeMissing, path+" is missing.")
}
