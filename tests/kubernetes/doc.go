// Package kubernetes runs the product in a Kubernetes cluster, installed by its chart, and changes,
// kills and moves its pods while clients call (make kube-test).
package kubernetes
