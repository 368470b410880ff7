// Package request parses all forms of requests for schedules into a Query. It calls no other
// service: the handler resolves hyperfind queries, locations and symbolic periods later.
package request
