package patterndefinition

import (
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// ShiftJobs returns the jobs that the segments of shift templates name, some of them nil.
func ShiftJobs(templates ...*schedulingv1.ShiftTemplate) (jobs []*commonv1.Ref) {
	for _, t := range templates {
		for _, segment := range t.GetSegments() {
			jobs = append(jobs, segment.GetOrgNode())
		}
	}
	return jobs
}

// PatternJobs returns the jobs that the items of patterns name, some of them nil. It leaves out the jobs of templates
// that a pattern only names.
func PatternJobs(patterns ...*schedulingv1.SchedulePattern) (jobs []*commonv1.Ref) {
	for _, p := range patterns {
		for _, item := range p.GetItems() {
			jobs = append(jobs, ShiftJobs(item.GetShiftTemplate())...)
			jobs = append(jobs, item.GetPayCodeEditTemplate().GetOrgJob())
			for _, segment := range item.GetScheduleTagTemplate().GetSegments() {
				jobs = append(jobs, segment.GetOrgJob())
			}
		}
	}
	return jobs
}
