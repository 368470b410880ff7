package schedule

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// maxJobs is the number of jobs in one call to commons.
const maxJobs = 1000

// expandJobs returns the fields of an ExpandedJobList with the jobs of the entries as they are on
// the last day, in order of their paths. A job that commons does not know on that day has only its path, because employees and
// shifts can refer to jobs of the future.
func (h *Handler) expandJobs(ctx context.Context, days civil.Range, w *window.Window) ([]byte, error) {
	named, err := w.Jobs()
	if err != nil {
		return nil, err
	}
	out := &schedulingv1.ExpandedJobList{}
	day := (days.To - 1).String()
	add := func(req *commonsv1.ResolveLocationsRequest) error {
		found, err := h.commons.ResolveLocations(ctx, req)
		if err != nil {
			return fmt.Errorf("ask for jobs: %w", err)
		}
		known := map[string]bool{}
		for _, l := range found.GetLocations() {
			known[l.GetAskedPath()] = true
			out.Jobs = append(out.Jobs, expandedJob(l))
		}
		for _, path := range req.GetPaths() {
			if !known[path] {
				out.Jobs = append(out.Jobs, &schedulingv1.ExpandedJob{Name: path[strings.LastIndexByte(path, '/')+1:], Path: path})
			}
		}
		return nil
	}
	for paths := range slices.Chunk(named.Paths, maxJobs) {
		if err := add(&commonsv1.ResolveLocationsRequest{Day: day, Paths: paths}); err != nil {
			return nil, err
		}
	}
	for ids := range slices.Chunk(named.IDs, maxJobs) {
		if err := add(&commonsv1.ResolveLocationsRequest{Day: day, Ids: ids}); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out.Jobs, func(a, b *schedulingv1.ExpandedJob) int {
		return cmp.Or(cmp.Compare(a.GetPath(), b.GetPath()), cmp.Compare(a.GetId(), b.GetId()))
	})
	return proto.MarshalOptions{Deterministic: true}.Marshal(out)
}

// expandedJob converts a location to the form of schedules. Its path is the path that entries use.
func expandedJob(found *commonsv1.ResolvedLocation) *schedulingv1.ExpandedJob {
	l := found.GetLocation()
	path := cmp.Or(found.GetAskedPath(), l.GetOrgPath())
	out := &schedulingv1.ExpandedJob{
		Id: l.NodeId, Name: l.GetName(), Path: path, ParentRef: l.GetParentNodeRef(), GenericJobRef: l.GetGenericJobRef(),
		JobType: proto.Bool(l.GetGenericJobRef() != nil), Color: cmp.Or(l.GetColor(), found.GetJob().GetColor()),
		DisplayOrder: found.GetJob().GetDisplayOrder(), EffectiveDate: l.GetEffectiveDate(), ExpirationDate: l.GetExpirationDate(),
		DirectWorkPercent: l.DirectWorkPercent, IndirectWorkPercent: l.IndirectWorkPercent,
	}
	if parent := parentPath(l); parent != "" {
		out.ParentPath, out.ParentName = parent, parent[strings.LastIndexByte(parent, '/')+1:]
	}
	if t := found.GetType(); t != nil {
		out.NodeType = &schedulingv1.ExpandedJobType{Id: t.Id, Name: t.GetName(), SortOrder: t.DisplayOrder}
	}
	return out
}

// parentPath returns the path of a location's parent, or "" at the top.
func parentPath(l *commonsv1.Location) string {
	if l.GetParentNodeRef().GetId() == 0 {
		return ""
	}
	return l.GetParentNodeRef().GetQualifier()
}
