#include "code/Synchronisers.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Function.h"

using namespace llvm;

namespace trackway {

namespace {

using By = Synchroniser;

class Table {
  public:
    Table() {
        posixThreads();
        cThreads();
        cxxThreads();
        openMp();
    }

    const SynchronisingCall *find(StringRef Name) const {
        auto It = Calls.find(Name);
        return It == Calls.end() ? nullptr : &It->second;
    }

  private:
    void add(ArrayRef<StringRef> Names, SynchronisingCall Call) {
        for (StringRef Name : Names)
            Calls[Name] = Call;
    }

    void releases(By What, int Address, ArrayRef<StringRef> Names) { add(Names, {true, false, What, Address}); }
    void acquires(By What, int Address, ArrayRef<StringRef> Names) { add(Names, {false, true, What, Address}); }
    void both(By What, int Address, ArrayRef<StringRef> Names) { add(Names, {true, true, What, Address}); }

    void posixThreads() {
        acquires(By::Lock, 0,
                 {"pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_timedlock", "pthread_mutex_clocklock",
                  "pthread_rwlock_rdlock", "pthread_rwlock_tryrdlock", "pthread_rwlock_timedrdlock",
                  "pthread_rwlock_clockrdlock", "pthread_rwlock_wrlock", "pthread_rwlock_trywrlock",
                  "pthread_rwlock_timedwrlock", "pthread_rwlock_clockwrlock", "pthread_spin_lock",
                  "pthread_spin_trylock"});
        releases(By::Lock, 0, {"pthread_mutex_unlock", "pthread_rwlock_unlock", "pthread_spin_unlock"});
        both(By::Condition, 0, {"pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait"});
        releases(By::Condition, 0, {"pthread_cond_signal", "pthread_cond_broadcast"});
        acquires(By::Semaphore, 0, {"sem_wait", "sem_trywait", "sem_timedwait", "sem_clockwait"});
        releases(By::Semaphore, 0, {"sem_post"});
        both(By::Barrier, 0, {"pthread_barrier_wait"});
        both(By::Once, 0, {"pthread_once"});
        releases(By::Thread, -1, {"pthread_create", "pthread_exit", "pthread_cancel", "pthread_kill"});
        acquires(By::Thread, -1,
                 {"pthread_join", "pthread_tryjoin_np", "pthread_timedjoin_np", "pthread_clockjoin_np"});
    }

    void cThreads() {
        acquires(By::Lock, 0, {"mtx_lock", "mtx_timedlock", "mtx_trylock"});
        releases(By::Lock, 0, {"mtx_unlock"});
        both(By::Condition, 0, {"cnd_wait", "cnd_timedwait"});
        releases(By::Condition, 0, {"cnd_signal", "cnd_broadcast"});
        both(By::Once, 0, {"call_once"});
        releases(By::Thread, -1, {"thrd_create", "thrd_exit"});
        acquires(By::Thread, -1, {"thrd_join"});
    }

    // Only the standard library's functions that aren't inlined: libstdc++'s, then libc++'s.
    void cxxThreads() {
        acquires(By::Once, 0, {"__cxa_guard_acquire"});
        releases(By::Once, 0, {"__cxa_guard_release", "__cxa_guard_abort"});
        releases(By::Thread, -1,
                 {"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"});
        acquires(By::Thread, -1, {"_ZNSt6thread4joinEv", "_ZNSt3__16thread4joinEv"});
        both(By::Condition, 0,
             {"_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE",
              "_ZNSt3__118condition_variable4waitERNS_11unique_lockINS_5mutexEEE"});
        releases(By::Condition, 0,
                 {"_ZNSt18condition_variable10notify_oneEv", "_ZNSt18condition_variable10notify_allEv",
                  "_ZNSt3__118condition_variable10notify_oneEv", "_ZNSt3__118condition_variable10notify_allEv"});
        acquires(By::Lock, 0, {"_ZNSt3__15mutex4lockEv", "_ZNSt3__15mutex8try_lockEv"});
        releases(By::Lock, 0, {"_ZNSt3__15mutex6unlockEv"});
    }

    void openMp() {
        both(By::ParallelRegion, -1,
             {"__kmpc_fork_call", "__kmpc_fork_call_if", "__kmpc_fork_teams", "__kmpc_omp_taskwait",
              "__kmpc_omp_taskyield", "__kmpc_end_taskgroup", "__kmpc_taskloop", "__kmpc_omp_wait_deps",
              "__kmpc_copyprivate"});
        releases(By::ParallelRegion, -1, {"__kmpc_omp_task", "__kmpc_omp_task_with_deps"});
        both(By::Barrier, -1, {"__kmpc_barrier", "__kmpc_cancel_barrier"});
        both(By::Fence, -1, {"__kmpc_flush"});
        acquires(By::Lock, 2, {"__kmpc_critical", "__kmpc_critical_with_hint"});
        releases(By::Lock, 2, {"__kmpc_end_critical"});
        acquires(By::Lock, -1, {"__kmpc_ordered", "__kmpc_reduce", "__kmpc_reduce_nowait"});
        releases(By::Lock, -1, {"__kmpc_end_ordered", "__kmpc_end_reduce", "__kmpc_end_reduce_nowait"});
        acquires(By::Lock, 0, {"omp_set_lock", "omp_test_lock", "omp_set_nest_lock", "omp_test_nest_lock"});
        releases(By::Lock, 0, {"omp_unset_lock", "omp_unset_nest_lock"});
    }

    StringMap<SynchronisingCall> Calls;
};

} // namespace

// A program may have a function of that name with another signature.
std::optional<SynchronisingCall> synchronisingCall(const CallBase &Call) {
    static const Table Known;
    const Function *Callee = Call.getCalledFunction();
    const SynchronisingCall *Found = Callee && !Callee->isIntrinsic() ? Known.find(Callee->getName()) : nullptr;
    if (!Found)
        return std::nullopt;
    SynchronisingCall Result = *Found;
    unsigned Position = static_cast<unsigned>(Result.Address);
    bool HasAddress =
        Result.Address >= 0 && Position < Call.arg_size() && Call.getArgOperand(Position)->getType()->isPointerTy();
    if (!HasAddress)
        Result.Address = -1;
    return Result;
}

// The position of the body among the arguments of the functions that start it.
static std::optional<unsigned> positionOfBody(StringRef Callee) {
    if (Callee == "__kmpc_fork_call" || Callee == "__kmpc_fork_call_if" || Callee == "__kmpc_fork_teams")
        return 2;
    if (Callee == "__kmpc_omp_task_alloc")
        return 5;
    return std::nullopt;
}

bool isThreadsBody(const Function &F) {
    return any_of(F.uses(), [](const Use &U) {
        auto *Call = dyn_cast<CallBase>(U.getUser());
        const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
        if (!Callee || !Call->isArgOperand(&U))
            return false;
        auto Position = positionOfBody(Callee->getName());
        return Position && *Position == Call->getArgOperandNo(&U);
    });
}

} // namespace trackway
