package employeegroup

import "strings"

// Group is an employee group: an organization path, or the name of a public hyperfind. The
// zero Group is empty.
type Group struct {
	// At most one of them is set.
	path, query string
}

// Parse returns the group that a managerEmployeeGroupName names. A name with a slash is a
// path; the group contains the persons whose primary labor account today is at the path or
// below. The path of a root ends with a slash ("Acme/"). A name without a slash is the name
// of a public hyperfind. The two forms never overlap, so creating or deleting a hyperfind
// cannot turn one group into another.
func Parse(name string) Group {
	name = strings.TrimSpace(name)
	if strings.Contains(name, "/") {
		return Group{path: strings.TrimRight(name, "/")}
	}
	return Group{query: name}
}

// Contains reports whether an organization path is certainly in the group: the group's path
// is the same or above it. The result is always false for a hyperfind, because its persons
// can work anywhere.
func (g Group) Contains(organizationPath string) bool {
	return g.path != "" && (organizationPath == g.path || strings.HasPrefix(organizationPath, g.path+"/"))
}

// Within reports whether all members of the group are certainly in another group.
func (g Group) Within(other Group) bool { return g == Group{} || other.Contains(g.path) }
