// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Protection domains, thread domains, and parent domains, which combine one of each.
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

#include "rdma_core/commands.h"
#include "rdma_core/library.h"
#include "rdma_core/verbs.h"

namespace sroce::verbs {

namespace {

/// The kernel has protection domains only.
struct ThreadDomain : ibv_td {
  std::atomic<int> parents = 0;
};

struct Domain : ibv_pd {
  std::atomic<int> parents = 0;
  /// Set in a parent domain.
  Domain* protection = nullptr;
  ThreadDomain* td = nullptr;
};

ThreadDomain* to_td(ibv_td* td) { return static_cast<ThreadDomain*>(td); }
Domain* to_pd(ibv_pd* pd) { return static_cast<Domain*>(pd); }

template <typename Object>
Object* allocate() {
  auto* object = new (std::nothrow) Object{};
  if (!object) errno = ENOMEM;
  return object;
}

void free_parent(Domain* parent) {
  parent->protection->parents--;
  if (parent->td) parent->td->parents--;
  delete parent;
}

}  // namespace

ibv_pd* alloc_pd(ibv_context* context) {
  ib_uverbs_alloc_pd_resp resp{};
  struct ibv_alloc_pd cmd {};
  auto* pd = allocate<Domain>();

  if (!pd) return nullptr;
  const int err = library().ibv_cmd_alloc_pd(context, pd, &cmd, sizeof(cmd), &resp, sizeof(resp));
  if (!err) return pd;
  delete pd;
  errno = err;
  return nullptr;
}

int dealloc_pd(ibv_pd* ibv_pd) {
  Domain* pd = to_pd(ibv_pd);

  if (pd->protection) {
    free_parent(pd);
    return 0;
  }
  if (pd->parents) return EBUSY;
  if (const int err = library().ibv_cmd_dealloc_pd(ibv_pd)) return err;
  delete pd;
  return 0;
}

ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr* attr) {
  if (attr->comp_mask) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  auto* td = allocate<ThreadDomain>();
  if (td) td->context = context;
  return td;
}

int dealloc_td(ibv_td* ibv_td) {
  ThreadDomain* td = to_td(ibv_td);

  if (td->parents) return EBUSY;
  delete td;
  return 0;
}

ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attr) {
  if (attr->comp_mask) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  if (!attr->pd || to_pd(attr->pd)->protection) {
    errno = EINVAL;
    return nullptr;
  }
  auto* parent = allocate<Domain>();
  if (!parent) return nullptr;
  parent->context = context;
  parent->handle = attr->pd->handle;
  parent->protection = to_pd(attr->pd);
  parent->protection->parents++;
  if (attr->td) {
    parent->td = to_td(attr->td);
    parent->td->parents++;
  }
  return parent;
}

bool is_parent_domain(ibv_pd* pd) { return to_pd(pd)->protection != nullptr; }

bool is_single_threaded(ibv_pd* pd) {
  const char* everywhere = std::getenv("SROCE_SINGLE_THREADED");

  return (pd && to_pd(pd)->td) || (everywhere && std::atoi(everywhere));
}

}  // namespace sroce::verbs
